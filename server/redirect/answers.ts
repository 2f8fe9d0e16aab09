// Decides how a request is answered: finds the redirect of its host, and where that leads.
import {
  findRedirect,
  RedirectBits,
  RedirectCell,
  redirectCodeOf,
} from '#bundle/redirects/redirect-table.ts'
import type { RedirectColumns } from '#bundle/redirects/redirect-table.ts'
import { HostFault, readHost } from './request-host.ts'

/** The answer to a request; the next call overwrites it. */
export interface RedirectAnswer {
  /** 301, 302, 307 or 308; 400, 404, 503. */
  status: number
  location: string
  /** Value of the Strict-Transport-Security header; empty when there is none. */
  hsts: string
  /** Row of the redirect; -1 when the host has none. */
  row: number
}

/** Answers from one set of redirects until it is given another. */
export class RedirectAnswers {
  readonly #name = new Uint8Array(256)
  readonly #answer: RedirectAnswer = { status: 0, location: '', hsts: '', row: -1 }
  #columns: RedirectColumns | undefined
  #text = Buffer.alloc(0)

  adopt(columns: RedirectColumns): void {
    this.#columns = columns
    const { buffer, byteOffset, byteLength } = columns.redirectText
    this.#text = Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength)
  }

  /**
   * @param host value of the Host header; undefined when there is none
   * @param target of the request line: a path with its query, a whole address, or `*`
   */
  answer(host: string | undefined, target: string): RedirectAnswer {
    const answer = this.#answer
    answer.location = ''
    answer.hsts = ''
    answer.row = -1
    if (this.#columns === undefined) {
      answer.status = 503
      return answer
    }
    const isPath = target.charCodeAt(0) === 0x2f
    const whole = isPath || target === '*' ? undefined : wholeAddress(target)
    if (!isPath && target !== '*' && whole === undefined) {
      answer.status = 400
      return answer
    }
    // RFC 9112 section 3.2.2: the host of a whole address takes precedence over the header.
    const length = readHost(whole?.host ?? host ?? '', this.#name)
    if (length <= 0) {
      answer.status = length === HostFault.Malformed ? 400 : 404
      return answer
    }
    const row = findRedirect(this.#columns, this.#name)
    if (row < 0) answer.status = 404
    else this.#fill(this.#columns, row, isPath ? target : (whole?.path ?? '/'))
    return answer
  }

  #fill({ redirectRow }: RedirectColumns, row: number, path: string): void {
    const at = row * RedirectCell.Words
    const bits = redirectRow[at + RedirectCell.Bits]!
    const start = redirectRow[at + RedirectCell.Target]!
    const end = start + redirectRow[at + RedirectCell.TargetBytes]!
    const answer = this.#answer
    answer.row = row
    answer.status = redirectCodeOf[bits >>> RedirectBits.CodeShift]!
    if (path === '/' || (bits & RedirectBits.PreservePath) === 0) {
      answer.location = this.#text.toString('latin1', start, end)
    } else {
      const hasSlash = this.#text[end - 1] === 0x2f
      const base = this.#text.toString('latin1', start, hasSlash ? end - 1 : end)
      answer.location = base + plain(path)
    }
    const hstsSeconds = redirectRow[at + RedirectCell.HstsSeconds]!
    if (hstsSeconds === 0) return
    const below = (bits & RedirectBits.IncludeSubDomains) === 0 ? '' : '; includeSubDomains'
    answer.hsts = `max-age=${hstsSeconds}${below}`
  }
}

/** Percent-encodes octets that a header cannot have, or that browsers take for something else. */
function plain(path: string): string {
  return oddOctet.test(path) ? path.replaceAll(oddOctets, encoded) : path
}

const oddOctet = /[^!$-;=?-[\]_a-z~]/
const oddOctets = /[^!$-;=?-[\]_a-z~]/g

function encoded(octet: string): string {
  return `%${octet.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
}

/** Reads a whole address. A query may follow the host at once, without a path. */
function wholeAddress(target: string): { host: string; path: string } | undefined {
  const [, host, rest = ''] = /^https?:\/\/([^/?#@]+)([/?][^#]*)?$/i.exec(target) ?? []
  if (host === undefined) return undefined
  return { host, path: rest.startsWith('/') ? rest : `/${rest}` }
}
