// Asks an HTTP API of another server for JSON, or for any text, in bounded time and memory.
import type { Agent, IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { ConnectionOptions } from 'node:tls'
import { boundedBytes, boundedLines } from '#lib/http/bounded-body.ts'
import { exchange } from '#lib/http/exchange.ts'
import { parseJson } from '#lib/text/json.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

export interface JsonRequest {
  readonly url: string
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** The type of a body that is a text; left out: it is JSON. */
  readonly bodyType?: string
  readonly signal: AbortSignal
  /** Left out: a connection of its own, by no proxy. */
  readonly agent?: Agent
  readonly tls?: Pick<
    ConnectionOptions,
    'ca' | 'cert' | 'key' | 'rejectUnauthorized' | 'servername'
  >
  /** The header that tells one state from another, in lower case. Left out: `etag`. */
  readonly tagHeader?: string
  /** Octets of the answer, or of one of its lines. Left out: `httpLimits.bodyBytesMax`. */
  readonly bytesMax?: number
  /** Accepted statuses beside those below 300. */
  readonly statuses?: readonly number[]
}

export interface JsonAnswer {
  readonly status: number
  /** undefined: an empty body. */
  readonly json: unknown
  /** The tag of the header or the trailer; empty: none. */
  readonly etag: string
}

export const httpLimits = {
  timeoutMs: 10_000,
  bodyBytesMax: 64_000_000,
  /** Characters of a server's response that are shown. */
  shownCharactersMax: 200,
} as const

/** A response of any status. */
interface AnyAnswer {
  readonly response: IncomingMessage
  readonly text: string
}

/** Errors: a sentence that names the server and its fault; never a header of the request. */
export async function askAny(
  asked: JsonRequest,
  timeoutMs: number,
): Promise<Result<AnyAnswer, string>> {
  return inTime(asked, timeoutMs, (response) => wholeOf(asked, response))
}

/** Errors: as those of `askAny`, and for a response that is no success, or not JSON. */
export async function askJson(
  asked: JsonRequest,
  timeoutMs: number = httpLimits.timeoutMs,
): Promise<Result<JsonAnswer, string>> {
  const answer = await askAny(asked, timeoutMs)
  return answer.ok ? jsonOf(asked, answer.value) : answer
}

/**
 * Asks for a response that grows by lines, and leaves it when `take` has seen enough.
 *
 * @param timeoutMs of all of it
 * @returns what `take` returns; for one of `asked.statuses`, the status. Errors: as those of
 *   `askJson`
 */
export async function askLines<T>(
  asked: JsonRequest,
  timeoutMs: number,
  take: (lines: AsyncIterable<string>) => Promise<T>,
): Promise<Result<T | number, string>> {
  const answer = await inTime(asked, timeoutMs, async (response) => {
    if (response.statusCode !== 200) return jsonOf(asked, await wholeOf(asked, response))
    return { taken: await take(boundedLines(response, asked.bytesMax ?? httpLimits.bodyBytesMax)) }
  })
  if (!answer.ok) return answer
  if ('taken' in answer.value) return ok(answer.value.taken)
  return answer.value.ok ? ok(answer.value.value.status) : answer.value
}

/**
 * How long the server wants to be left alone: seconds, or a date, which counts by its own clock.
 * RFC 9110 section 10.2.3.
 *
 * @param nowMs where it does not say its time
 * @returns null: it does not say
 */
export function retryAfterMs(
  { 'retry-after': text, date = '' }: IncomingHttpHeaders,
  nowMs: number,
): number | null {
  if (text === undefined) return null
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000
  // Dates begin with a day of the week; `-1` and `1.5` would be dates, too.
  if (!/^[A-Z]/i.test(text)) return null
  const theirMs = Date.parse(date)
  const leftMs = Date.parse(text) - (Number.isNaN(theirMs) ? nowMs : theirMs)
  return Number.isNaN(leftMs) ? null : Math.max(0, leftMs)
}

function jsonOf(asked: JsonRequest, { response, text }: AnyAnswer): Result<JsonAnswer, string> {
  const { host } = new URL(asked.url)
  const status = response.statusCode ?? 0
  const isAnswer = status < 300 || (asked.statuses ?? []).includes(status)
  const parsed = parse(text)
  const { message } = Object(parsed.ok ? parsed.value : undefined) as { message?: unknown }
  const said = typeof message === 'string' ? message : text
  const shown = said.slice(0, httpLimits.shownCharactersMax).replaceAll(/\s+/g, ' ').trim()
  const what = `${asked.method} ${new URL(asked.url).pathname}`
  const tail = shown === '' ? '' : `: ${shown}`
  if (!isAnswer) return err(`${host} answered ${status} to ${what}${hintOf(status)}${tail}`)
  if (!parsed.ok) return err(`${host} answered ${what} with something that is no JSON: ${shown}`)
  const name = asked.tagHeader ?? 'etag'
  const etag = String(response.headers[name] ?? response.trailers[name] ?? '')
  return ok({ status, json: parsed.value, etag })
}

const jsonType = 'application/json'

async function inTime<T>(
  asked: JsonRequest,
  timeoutMs: number,
  read: (response: IncomingMessage) => Promise<T>,
): Promise<Result<T, string>> {
  const { host } = new URL(asked.url)
  const signal = AbortSignal.any([asked.signal, AbortSignal.timeout(timeoutMs)])
  try {
    return ok(await sent(asked, signal, read))
  } catch (error) {
    if (asked.signal.aborted) return err(`${host} took too long, all requests together`)
    if (signal.aborted) return err(`${host} did not answer within ${timeoutMs / 1000} s`)
    const { code, message } = error as NodeJS.ErrnoException
    return err(`${host} cannot be asked: ${code ?? message}`)
  }
}

async function wholeOf(
  { bytesMax = httpLimits.bodyBytesMax }: JsonRequest,
  response: IncomingMessage,
): Promise<AnyAnswer> {
  const bytes = await boundedBytes(response, bytesMax)
  return { response, text: Buffer.from(bytes).toString('utf8') }
}

function sent<T>(
  { bodyType = jsonType, ...asked }: JsonRequest,
  signal: AbortSignal,
  read: (response: IncomingMessage) => Promise<T>,
): Promise<T> {
  const { url, method, headers, body, tls, agent = false } = asked
  const isText = typeof body === 'string' && bodyType !== jsonType
  // Without a body there is no text of it.
  const content: string | undefined = isText ? body : JSON.stringify(body)
  const options = {
    ...{ method, signal, agent },
    ...tls,
    headers: {
      accept: 'application/json',
      // Without it a server may send any coding. RFC 9110 section 12.5.3.
      'accept-encoding': 'identity',
      ...(content === undefined
        ? {}
        : { 'content-type': bodyType, 'content-length': Buffer.byteLength(content) }),
      ...headers,
    },
  }
  return exchange(new URL(url), options, content, (response) => {
    const coding = response.headers['content-encoding'] ?? ''
    if (!/^(identity)?$/i.test(coding)) throw new Error(compressed(coding))
    return read(response)
  })
}

const compressed = (coding: string): string =>
  `its answer is compressed (${coding.slice(0, 32)}), which was not asked for`

function parse(text: string): Result<unknown, null> {
  if (text.trim() === '') return ok(undefined)
  const value = parseJson(text)
  return value === undefined ? err(null) : ok(value)
}

function hintOf(status: number): string {
  if (status >= 300 && status < 400) return ' (redirects are not followed)'
  if (status === 401 || status === 403) return ' (look at the credentials)'
  return ''
}
