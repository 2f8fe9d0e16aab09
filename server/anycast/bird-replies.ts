// Reads the replies of BIRD's control protocol: lines with a code of four digits.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

interface ReplyLine {
  /** Code of the line, 0 to 9999. */
  readonly code: number
  readonly text: string
}

/** The reply of BIRD to one command. */
export interface BirdReply {
  readonly lines: readonly ReplyLine[]
  /** Code of the last line: 0000 to 0999 done, 8000 to 8999 failed, 9000 to 9999 not understood. */
  readonly code: number
}

export const birdLimits = Object.freeze({
  /** Octets of one line. */
  lineMax: 1_024,
  /** Lines of a reply; `show protocols` has one for each requested protocol. */
  linesMax: 256,
})

/** From this code on, a command has failed. */
const firstFaultCode = 8_000

export const hasFailed = ({ code }: BirdReply): boolean => code >= firstFaultCode

/** Returns the first line of a reply that has text. */
export const sentenceOf = ({ lines }: BirdReply): string =>
  lines.find(({ text }) => text.trim() !== '')?.text.trim() ?? ''

/**
 * Splits the octets of a connection into replies. `0011-` begins a line that another one follows,
 * `0011 ` the last one; a line that begins with a blank continues the code before it, and one that
 * begins with `+` belongs to no command.
 */
export class BirdReplies {
  #rest = ''
  #lines: ReplyLine[] = []
  #fault: string | undefined

  /**
   * @param chunk text in which each character is an octet
   * @returns replies that are complete. Errors: the other side is not BIRD, and every later call
   * fails as well
   */
  read(chunk: string): Result<readonly BirdReply[], string> {
    const replies: BirdReply[] = []
    let start = 0
    for (;;) {
      if (this.#fault !== undefined) return err(this.#fault)
      const end = chunk.indexOf('\n', start)
      if (end < 0) break
      this.#take(this.#rest + chunk.slice(start, end), replies)
      this.#rest = ''
      start = end + 1
    }
    this.#rest += chunk.slice(start)
    if (this.#rest.length <= birdLimits.lineMax) return ok(replies)
    this.#rest = ''
    return err((this.#fault = tooLong))
  }

  #take(line: string, replies: BirdReply[]): void {
    if (line.length > birdLimits.lineMax) this.#fault = tooLong
    else if (line.startsWith('+')) return
    else if (this.#lines.length >= birdLimits.linesMax) this.#fault = tooMany
    else if (line.startsWith(' ')) this.#goOn(line.slice(1))
    else this.#begin(line, replies)
  }

  #goOn(text: string): void {
    const before = this.#lines.at(-1)
    if (before === undefined) this.#fault = 'it begins a reply without a code'
    else this.#lines.push({ code: before.code, text })
  }

  #begin(line: string, replies: BirdReply[]): void {
    const [, digits = '', mark = ''] = /^(\d{4})([ -])/.exec(line) ?? []
    if (mark === '') {
      this.#fault = 'it says something without a code'
      return
    }
    const code = Number(digits)
    this.#lines.push({ code, text: line.slice(5) })
    if (mark === '-') return
    replies.push({ lines: this.#lines, code })
    this.#lines = []
  }
}

const tooLong = `it says a line of more than ${birdLimits.lineMax} octets`
const tooMany = `it says more than ${birdLimits.linesMax} lines to one command`
