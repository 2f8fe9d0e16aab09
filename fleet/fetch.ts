// Reads one file of a source over HTTP, with limits of size, time and slowness.
import { sharedCopy } from '#lib/memory/copy-for-threads.ts'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { pipeline } from 'node:stream'
import type { Readable } from 'node:stream'
import { constants, createZstdDecompress } from 'node:zlib'
import { BodyTooLong, boundedBytes, fillFrom } from '#lib/http/bounded-body.ts'
import { exchange } from '#lib/http/exchange.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { fleetLimits } from './limits.ts'
import { shadowHeader } from './tree.ts'

type FetchFault =
  | 'unreachable'
  | 'bad-status'
  /** The server has named a time to ask again. */
  | 'busy'
  | 'too-large'
  | 'too-slow'
  | 'cut-short'
  | 'bad-encoding'
  | 'stopped'

interface FetchOptions {
  readonly headers: Readonly<Record<string, string>>
  /** JSON; with it the request is a POST. */
  readonly body?: string | undefined
  /** Limit of octets, both compressed and decompressed. */
  readonly bytesMax: number
  /** Decompressed size, as signed: the memory that the bundle takes. Left out: unknown. */
  readonly bytes?: number | undefined
  /** Time until the head of the response. */
  readonly headPatienceMs: number
  readonly rate: { readonly windowMs: number; readonly bytesMin: number }
  /** Time for the whole body; left out: by its size. */
  readonly bodyMs?: number | undefined
  /** Aborts at once. */
  readonly signal: AbortSignal
}

export interface Fetched {
  /** 200; 204 or 304 without octets. */
  readonly status: number
  /** True: a POST with JSON is accepted in place of this GET (`Accept-Post`). */
  readonly takesJson: boolean
  readonly tag: string | undefined
  /** Digest of a bundle that this node is to compute with beside its own; '': none. */
  readonly shadow: string
  readonly bytes: Uint8Array<SharedArrayBuffer>
  /** Octets on the wire. */
  readonly wireBytes: number
}

export interface FetchFailure {
  readonly code: FetchFault
  /** Description of the fault. */
  readonly message: string
  /** Set for `busy`. */
  readonly retryAfterMs?: number
  /** Set for `bad-status`. */
  readonly status?: number
}

/** Octets that are read of a response that explains a refused request. */
const reasonBytesMax = 1_024

class FetchError extends Error {
  readonly failure: FetchFailure
  constructor(code: FetchFault, message: string, more: Partial<FetchFailure> = {}) {
    super(message)
    this.failure = { code, message, ...more }
  }
}

/**
 * Tells a control node something small, such as a report.
 *
 * @param url address of the node
 *
 * @param token a secret; null: none
 */
export function postJson(
  url: string,
  path: string,
  body: string,
  token: string | null,
): Promise<Result<Fetched, FetchFailure>> {
  const { wordsPatienceMs, recordBytesMax: bytesMax, rate } = fleetLimits
  return fetchFile(new URL(path, url.endsWith('/') ? url : `${url}/`), {
    headers: token === null ? {} : { authorization: `Bearer ${token}` },
    body,
    bytesMax,
    rate,
    headPatienceMs: wordsPatienceMs,
    signal: AbortSignal.timeout(wordsPatienceMs),
  })
}

/** Redirects are not followed: a source is where the settings say. */
export async function fetchFile(
  url: URL,
  options: FetchOptions,
): Promise<Result<Fetched, FetchFailure>> {
  const { headers, body, headPatienceMs, signal } = options
  const sent = body === undefined ? {} : { 'content-type': 'application/json' }
  const asked = {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'accept-encoding': 'zstd', ...sent, ...headers },
    maxHeaderSize: fleetLimits.recordBytesMax,
    signal,
  }
  let patience: NodeJS.Timeout | undefined
  const read = (response: IncomingMessage): Promise<Fetched> => {
    clearTimeout(patience)
    return bodyOf(response, options)
  }
  try {
    const fetched = await exchange(url, asked, body, read, (request) => {
      const late = new FetchError('too-slow', `no answer within ${headPatienceMs} ms`)
      patience = setTimeout(() => request.destroy(late), headPatienceMs)
    })
    return ok(fetched)
  } catch (error) {
    return err(failureOf(error, signal))
  } finally {
    clearTimeout(patience)
  }
}

function failureOf(error: unknown, signal: AbortSignal): FetchFailure {
  if (signal.aborted) return { code: 'stopped', message: 'this node stops' }
  if (error instanceof FetchError) return error.failure
  const { code = '', message } = error as NodeJS.ErrnoException
  if (code.startsWith('ZSTD_') || code === 'ERR_BUFFER_TOO_LARGE')
    return { code: 'bad-encoding', message: `what it sent is not Zstandard: ${message}` }
  return { code: 'unreachable', message: message === '' ? code : message }
}

async function bodyOf(response: IncomingMessage, options: FetchOptions): Promise<Fetched> {
  const { statusCode: status = 0, headers } = response
  const { rate, bytes: known } = options
  const bytesMax = Math.min(options.bytesMax, known ?? options.bytesMax)
  const head = {
    ...{ status, tag: headers.etag, takesJson: takesJson(headers) },
    shadow: shadowIn(headers),
  }
  if (status === 304 || status === 204) return { ...head, bytes: empty(), wireBytes: 0 }
  if (status !== 200) throw await refusalOf(response, options)
  const wireBytesMax = bytesMax + fleetLimits.wireSlackBytes
  const announced = Number(headers['content-length'] ?? 0)
  if (announced > wireBytesMax)
    throw new FetchError('too-large', `it announced ${announced} octets`)
  let wireBytes = 0
  let windowBytes = 0
  response.on('data', (chunk: Buffer) => {
    wireBytes += chunk.length
    windowBytes += chunk.length
    // Compressed frames may decompress to nothing, so octets on the wire are limited as well.
    if (wireBytes > wireBytesMax) response.destroy(tooLarge(bytesMax))
  })
  const slow = (said: string) => void response.destroy(new FetchError('too-slow', said))
  const watch = setInterval(() => {
    if (windowBytes < rate.bytesMin) slow(`${windowBytes} octets in ${rate.windowMs} ms`)
    windowBytes = 0
  }, rate.windowMs)
  const bodyMs = options.bodyMs ?? patienceFor(bytesMax)
  const patience = setTimeout(() => slow(`no end within ${bodyMs} ms`), bodyMs)
  try {
    const bytes = await collect(decoded(response), bytesMax, known !== undefined)
    return { ...head, bytes, wireBytes }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const isCut = code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE'
    // A compressed file that ends too early.
    const isTorn = code === 'Z_BUF_ERROR' || !response.complete
    if (isCut || (isTorn && !(error instanceof FetchError)))
      throw new FetchError('cut-short', `the connection ended after ${wireBytes} octets`)
    throw error
  } finally {
    clearInterval(watch)
    clearTimeout(patience)
  }
}

/** `Retry-After` in seconds; dates are ignored, since clocks may be wrong. */
async function refusalOf(response: IncomingMessage, options: FetchOptions): Promise<FetchError> {
  const { statusCode: status = 0, headers } = response
  const seconds = /^\d{1,6}$/.exec(headers['retry-after'] ?? '')?.[0]
  if ((status !== 503 && status !== 429) || seconds === undefined) {
    // A request of this node was wrong, or it may not ask: the body has the reason.
    const why = [400, 401, 403].includes(status) ? await reasonIn(response, options) : ''
    return new FetchError('bad-status', `it answered ${status}${why}`, { status })
  }
  const retryAfterMs = Number(seconds) * 1000
  return new FetchError('busy', `it answered ${status}: ask again in ${seconds} s`, {
    retryAfterMs,
  })
}

/** The sentence of a control node; '': there is none, it is too long, or it comes too late. */
async function reasonIn(
  response: IncomingMessage,
  { headPatienceMs }: FetchOptions,
): Promise<string> {
  const patience = setTimeout(() => response.destroy(), headPatienceMs)
  try {
    const bytes = await boundedBytes(response, reasonBytesMax)
    const { error } = JSON.parse(Buffer.from(bytes).toString()) as { readonly error?: unknown }
    return typeof error === 'string' ? `: ${error}` : ''
  } catch {
    return ''
  } finally {
    clearTimeout(patience)
  }
}

function takesJson(headers: IncomingHttpHeaders): boolean {
  const types = headers['accept-post']
  return typeof types === 'string' && types.toLowerCase().includes('application/json')
}

function shadowIn(headers: IncomingHttpHeaders): string {
  const named = headers[shadowHeader]
  return typeof named === 'string' && /^[0-9a-f]{64}$/.test(named) ? named : ''
}

function decoded(response: IncomingMessage): Readable {
  const encoding = response.headers['content-encoding'] ?? 'identity'
  if (encoding === 'identity') return response
  if (encoding !== 'zstd')
    throw new FetchError('bad-encoding', `it uses the content encoding "${encoding.slice(0, 40)}"`)
  return pipeline(response, createZstdDecompress(unpacking), () => undefined)
}

const unpacking = { params: { [constants.ZSTD_d_windowLogMax]: fleetLimits.zstdWindowLog } }

/** @param isExact true: exactly so many octets are expected, and are allocated at once */
async function collect(
  from: Readable,
  bytesMax: number,
  isExact: boolean,
): Promise<Uint8Array<SharedArrayBuffer>> {
  try {
    if (isExact) {
      const bytes = new Uint8Array(new SharedArrayBuffer(bytesMax))
      return bytes.subarray(0, await fillFrom(from, bytes))
    }
    return sharedCopy(await boundedBytes(from, bytesMax))
  } catch (error) {
    throw error instanceof BodyTooLong ? tooLarge(bytesMax) : error
  }
}

const tooLarge = (bytesMax: number): FetchError =>
  new FetchError('too-large', `it sent more than ${bytesMax} octets`)

function patienceFor(bytes: number): number {
  const { bytesPerSecond, leastMs, mostMs } = fleetLimits.body
  return Math.min(mostMs, Math.max(leastMs, Math.ceil((bytes * 1_000) / bytesPerSecond)))
}

const empty = (): Uint8Array<SharedArrayBuffer> => new Uint8Array(new SharedArrayBuffer(0))
