// Sends an agent's findings over HTTP to the first control node that takes them. A process that has
// not received the rest gets all of it.
import { postJson } from '#fleet/fetch.ts'
import { agentReportPath } from '#fleet/tree.ts'
import type { Owner } from './agent-report.ts'
import { asSent, bodiesOf } from './report-bodies.ts'
import type { SentVerdict, SentReport } from './report-bodies.ts'
import { fieldsOf, parseJson } from '#lib/text/json.ts'

/** The process that received it; '': more than one did, or it did not name itself. */
type PostOutcome =
  { readonly ok: true; readonly by: string } | { readonly ok: false; readonly fault: string }

interface ReportSenderParts {
  /** Addresses in the order in which they are tried. */
  readonly urls: readonly string[]
  /** A secret; null: none. */
  readonly token: string | null
}

export class AgentReportSender {
  readonly #parts: ReportSenderParts
  /** Verdicts that were sent and not withdrawn, by member. */
  readonly #said = new Map<string, SentVerdict>()
  /** The process that has received all of them; '': none. */
  #heardBy = ''

  constructor(parts: ReportSenderParts) {
    this.#parts = parts
  }

  /** @throws when no control node takes it */
  readonly publish = async (update: SentReport): Promise<void> => {
    const sent = { ...update, changed: update.changed.map(asSent) }
    for (const word of sent.withdrawn) this.#said.delete(keyOf(word))
    for (const word of sent.changed) this.#said.set(keyOf(word), word)
    const faults: string[] = []
    for (const url of this.#parts.urls) {
      const fault = await this.#tell(url, sent)
      if (fault === null) return
      faults.push(fault)
    }
    throw new Error(faults.join('; '))
  }

  /** @returns what is wrong; null: it was received */
  async #tell(url: string, update: SentReport): Promise<string | null> {
    const heard = await this.#postAll(url, update)
    if (!heard.ok) return heard.fault
    if (heard.by !== '' && heard.by === this.#heardBy) return null
    const changed = [...this.#said.values()]
    const again = await this.#postAll(url, { ...update, changed, withdrawn: [] })
    if (!again.ok) return again.fault
    this.#heardBy = again.by
    return null
  }

  async #postAll(url: string, update: SentReport): Promise<PostOutcome> {
    const by = new Set<string>()
    for (const body of bodiesOf(update)) {
      const posted = await this.#post(url, body)
      if (!posted.ok) return posted
      by.add(posted.by)
    }
    const [only = ''] = by
    return { ok: true, by: by.size === 1 ? only : '' }
  }

  async #post(url: string, body: string): Promise<PostOutcome> {
    const answer = await postJson(url, agentReportPath, body, this.#parts.token)
    if (!answer.ok) return { ok: false, fault: `${new URL(url).host}: ${answer.error.message}` }
    return { ok: true, by: heardBy(answer.value.bytes) }
  }
}

const keyOf = ({ memberUid, ipAddress }: Owner): string => `${memberUid} ${ipAddress}`

/** A receiver that is no control node names no instance, and gets everything each time. */
function heardBy(bytes: Uint8Array): string {
  const { instance } = fieldsOf(parseJson(Buffer.from(bytes).toString()))
  return typeof instance === 'string' ? instance : ''
}
