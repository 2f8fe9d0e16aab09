// Tells control nodes over HTTP what an agent finds: to the first that takes it. It is told again
// in full to a process that has not heard the rest.
import { fetchFile } from '#fleet/fetch.ts'
import { fleetLimits } from '#fleet/limits.ts'
import { wordLimits } from './node-words.ts'
import { wordsPath } from '#fleet/tree.ts'

/** A word on a member; what else it has is sent as it is. */
interface Word {
  readonly memberUid: string
  readonly ipAddress: string
  readonly reason?: string
}

interface Update {
  readonly node: string
  readonly site?: string
  readonly changed: readonly Word[]
  readonly withdrawn: readonly Word[]
}

export interface WordsSenderParts {
  /** In the order in which they are tried. */
  readonly urls: readonly string[]
  /** A secret; null: none. */
  readonly token: string | null
  readonly patienceMs?: number
}

export class WordsSender {
  readonly #parts: WordsSenderParts
  /** What was said and not taken back, by member. */
  readonly #said = new Map<string, Word>()
  /** The process that has heard all of it; '': none. */
  #heardBy = ''

  constructor(parts: WordsSenderParts) {
    this.#parts = parts
  }

  /** @throws when nobody takes it */
  readonly publish = async (update: Update): Promise<void> => {
    const sent = { ...update, changed: update.changed.map(asSent) }
    for (const word of sent.withdrawn) this.#said.delete(keyOf(word))
    for (const word of sent.changed) this.#said.set(keyOf(word), word)
    const faults: string[] = []
    for (const url of this.#parts.urls) {
      const told = await this.#tell(url, sent)
      if (told === null) return
      faults.push(told)
    }
    throw new Error(faults.join('; '))
  }

  /** @returns what is wrong; null: it was told */
  async #tell(url: string, update: Update): Promise<string | null> {
    const heard = await this.#post(url, update)
    if (!heard.ok) return heard.fault
    if (heard.by === this.#heardBy) return null
    const all = [...this.#said.values()]
    for (let i = 0; i < all.length; i += wordLimits.membersMax) {
      const changed = all.slice(i, i + wordLimits.membersMax)
      const again = await this.#post(url, { ...update, changed, withdrawn: [] })
      if (!again.ok) return again.fault
    }
    this.#heardBy = heard.by
    return null
  }

  async #post(
    url: string,
    { node, site = '', changed, withdrawn }: Update,
  ): Promise<
    { readonly ok: true; readonly by: string } | { readonly ok: false; readonly fault: string }
  > {
    const { token, patienceMs = fleetLimits.wordsPatienceMs } = this.#parts
    const base = url.endsWith('/') ? url : `${url}/`
    const answer = await fetchFile(new URL(wordsPath, base), {
      headers: token === null ? {} : { authorization: `Bearer ${token}` },
      body: JSON.stringify({ node, site, changed, withdrawn }),
      bytesMax: fleetLimits.recordBytesMax,
      headPatienceMs: patienceMs,
      rate: fleetLimits.rate,
      signal: AbortSignal.timeout(patienceMs),
    })
    if (!answer.ok) return { ok: false, fault: `${new URL(url).host}: ${answer.error.message}` }
    return { ok: true, by: heardBy(answer.value.bytes) }
  }
}

const keyOf = ({ memberUid, ipAddress }: Word): string => `${memberUid} ${ipAddress}`

/** One reason that is too long, such as of a check with many statuses, would cost all words. */
function asSent(word: Word): Word {
  const { reason } = word
  return reason === undefined
    ? word
    : { ...word, reason: reason.slice(0, wordLimits.reasonCharsMax) }
}

/** Of something else than a control node there is no such word: it is told all each time. */
function heardBy(bytes: Uint8Array): string {
  try {
    const { instance } = JSON.parse(Buffer.from(bytes).toString()) as { instance?: unknown }
    return typeof instance === 'string' ? instance : ''
  } catch {
    return ''
  }
}
