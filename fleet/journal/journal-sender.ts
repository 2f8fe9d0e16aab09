// Sends a journal to a control node over HTTP: the one that took the last part, else the first that
// takes one.
import { postJson } from '#fleet/fetch.ts'
import type { FetchFailure } from '#fleet/fetch.ts'
import { fieldsOf, parseJson } from '#lib/text/json.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { journalPath, sentPart } from './journal-upload.ts'
import type { JournalUpload } from './journal-upload.ts'

interface JournalSenderParts {
  /** Addresses in the order in which they are tried. */
  readonly urls: readonly string[]
  /** A secret; null: none. */
  readonly token: string | null
}

interface SendFault {
  /**
   * `refused`: these octets will never be taken. `absent`: no journal is taken, as by web servers,
   * older versions, and nodes without a database. `away`: they may be taken later.
   */
  readonly code: 'refused' | 'absent' | 'away'
  readonly message: string
}

export class JournalSender {
  readonly #parts: JournalSenderParts
  /** The address that took the last part comes first. */
  #urls: readonly string[]

  constructor(parts: JournalSenderParts) {
    this.#parts = parts
    this.#urls = parts.urls
  }

  /** @returns octets of the segment that are stored now */
  readonly add = async (part: JournalUpload): Promise<Result<number, SendFault>> => {
    const faults: SendFault[] = []
    for (const url of this.#urls) {
      const posted = await this.#post(url, part)
      if (posted.ok) {
        this.#urls = [url, ...this.#urls.filter((other) => other !== url)]
        return posted
      }
      faults.push(posted.error)
    }
    const worst = faults.find(({ code }) => code === 'away') ?? faults.find(isRefused) ?? faults[0]
    const message = faults.map((fault) => fault.message).join('; ')
    return err({ code: worst?.code ?? 'absent', message })
  }

  async #post(url: string, part: JournalUpload): Promise<Result<number, SendFault>> {
    const answer = await postJson(url, journalPath, sentPart(part), this.#parts.token)
    const { host } = new URL(url)
    if (!answer.ok)
      return err({ code: codeOf(answer.error), message: `${host}: ${answer.error.message}` })
    const bytes = bytesIn(answer.value.bytes)
    if (bytes !== undefined) return ok(bytes)
    return err({ code: 'absent', message: `${host}: it is no control node of this version` })
  }
}

const isRefused = ({ code }: SendFault): boolean => code === 'refused'

function codeOf({ status = 0 }: FetchFailure): SendFault['code'] {
  if (status === 400 || status === 413) return 'refused'
  return [404, 405, 501].includes(status) ? 'absent' : 'away'
}

function bytesIn(octets: Uint8Array): number | undefined {
  const { bytes } = fieldsOf(parseJson(Buffer.from(octets).toString()))
  return Number.isSafeInteger(bytes) && (bytes as number) >= 0 ? (bytes as number) : undefined
}
