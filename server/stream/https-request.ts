// What a request of DNS over HTTPS asks for, by its headers. RFC 8484 section 4.1.
import { HeaderOffset } from '#dns/header.ts'
import type { KnownHeader } from '#system/http2/http2-session.ts'
import { tcpMessageBytesMax } from './tcp-limits.ts'

/** What became of a request; the keys are those of its metric. */
export const outcomes = {
  answered: { status: 200, says: '' },
  badRequest: {
    status: 400,
    says: 'no DNS query: GET has one as base64url in the parameter dns, POST as its body\n',
  },
  notFound: { status: 404, says: 'nothing is here\n' },
  badMethod: { status: 405, says: 'only GET and POST\n' },
  tooLarge: { status: 413, says: `a message has at most ${tcpMessageBytesMax} octets\n` },
  badType: { status: 415, says: 'the body must be application/dns-message\n' },
  failed: { status: 500, says: 'the server could not answer\n' },
} as const
export type Outcome = keyof typeof outcomes

/** Requests by what became of them; `floods`: connections that were closed for one. */
export type HttpsCounts = Record<Outcome | 'floods', number>

export const noRequests = (): HttpsCounts => ({
  ...(Object.fromEntries(Object.keys(outcomes).map((key) => [key, 0])) as Record<Outcome, number>),
  floods: 0,
})

export const dnsMessageType = 'application/dns-message'

const base64url = /^[A-Za-z0-9_-]+$/

export type RequestHeaders = Partial<Record<KnownHeader, string>>

/** @returns the message of a GET; `body`: that of a POST follows; or what is wrong */
export function readRequest(
  headers: RequestHeaders,
  path: string,
): Uint8Array | 'body' | Exclude<Outcome, 'answered'> {
  const [asked, parameters = ''] = split(headers[':path'] ?? '')
  if (asked !== path) return 'notFound'
  const { ':method': method } = headers
  if (method === 'GET') return messageOf(parameters)
  if (method !== 'POST') return 'badMethod'
  const [type] = (headers['content-type'] ?? '').split(';')
  if (type?.trim().toLowerCase() !== dnsMessageType) return 'badType'
  return Number(headers['content-length'] ?? 0) > tcpMessageBytesMax ? 'tooLarge' : 'body'
}

function split(path: string): readonly [string, string?] {
  const mark = path.indexOf('?')
  return mark < 0 ? [path] : [path.slice(0, mark), path.slice(mark + 1)]
}

/** RFC 8484 section 6: base64url without padding. The first of several is taken. */
function messageOf(parameters: string): Uint8Array | 'badRequest' | 'tooLarge' {
  const text = parameters
    .split('&')
    .find((one) => one.startsWith('dns='))
    ?.slice('dns='.length)
  if (text === undefined || !base64url.test(text) || text.length % 4 === 1) return 'badRequest'
  return checked(Buffer.from(text, 'base64url'))
}

/** @returns the message; or what is wrong */
export function checked(message: Uint8Array): Uint8Array | 'badRequest' | 'tooLarge' {
  if (message.length < HeaderOffset.End) return 'badRequest'
  return message.length > tcpMessageBytesMax ? 'tooLarge' : message
}
