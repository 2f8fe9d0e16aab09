// Reads one file of a source over HTTP with bounds: of octets, of time, and of slowness.
import { request as httpRequest } from 'node:http'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { pipeline } from 'node:stream'
import type { Readable } from 'node:stream'
import { createZstdDecompress } from 'node:zlib'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { fleetLimits } from './limits.ts'

export type FetchFault =
  'unreachable' | 'bad-status' | 'too-large' | 'too-slow' | 'cut-short' | 'bad-encoding' | 'stopped'

export interface FetchOptions {
  readonly headers: Readonly<Record<string, string>>
  /** Of what is read, and of what it becomes when it was compressed. */
  readonly bytesMax: number
  /** Until the head of the answer. */
  readonly headPatienceMs: number
  readonly rate: { readonly windowMs: number; readonly bytesMin: number }
  /** Ends it at once. */
  readonly signal: AbortSignal
}

export interface Fetched {
  /** 200, or 304 without octets. */
  readonly status: number
  readonly tag: string | undefined
  readonly bytes: Uint8Array<SharedArrayBuffer>
  /** As they came over the wire. */
  readonly wireBytes: number
}

export interface FetchFailure {
  readonly code: FetchFault
  /** What was seen. */
  readonly message: string
}

class Giving extends Error {
  readonly code: FetchFault
  constructor(code: FetchFault, message: string) {
    super(message)
    this.code = code
  }
}

/** Redirections are not followed: a source is where the settings say. */
export async function fetchFile(
  url: URL,
  options: FetchOptions,
): Promise<Result<Fetched, FetchFailure>> {
  let request: ClientRequest | undefined
  try {
    const response = await headOf(url, options, (made) => (request = made))
    return ok(await bodyOf(response, options))
  } catch (error) {
    return err(failureOf(error, options.signal))
  } finally {
    request?.destroy()
  }
}

function failureOf(error: unknown, signal: AbortSignal): FetchFailure {
  if (signal.aborted) return { code: 'stopped', message: 'this node stops' }
  if (error instanceof Giving) return { code: error.code, message: error.message }
  const { code = '', message } = error as NodeJS.ErrnoException
  if (code.startsWith('ZSTD_') || code === 'ERR_BUFFER_TOO_LARGE')
    return { code: 'bad-encoding', message: `what it sent is not Zstandard: ${message}` }
  return { code: 'unreachable', message: message === '' ? code : message }
}

function headOf(
  url: URL,
  { headers, headPatienceMs, signal }: FetchOptions,
  made: (request: ClientRequest) => void,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const start = url.protocol === 'https:' ? httpsRequest : httpRequest
    const request = start(url, {
      headers: { 'accept-encoding': 'zstd', ...headers },
      agent: false,
      maxHeaderSize: fleetLimits.recordBytesMax,
      signal,
    })
    made(request)
    const patience = setTimeout(() => {
      request.destroy(new Giving('too-slow', `no answer within ${headPatienceMs} ms`))
    }, headPatienceMs)
    request.once('error', (error) => {
      clearTimeout(patience)
      reject(error)
    })
    request.once('response', (response) => {
      clearTimeout(patience)
      resolve(response)
    })
    request.end()
  })
}

async function bodyOf(response: IncomingMessage, options: FetchOptions): Promise<Fetched> {
  const { statusCode: status = 0, headers } = response
  const { bytesMax, rate } = options
  if (status === 304) return { status, tag: headers.etag, bytes: empty(), wireBytes: 0 }
  if (status !== 200) throw new Giving('bad-status', `it answered ${status}`)
  const announced = Number(headers['content-length'] ?? 0)
  if (announced > bytesMax) throw new Giving('too-large', `it announced ${announced} octets`)
  let wireBytes = 0
  let windowBytes = 0
  response.on('data', (chunk: Buffer) => {
    wireBytes += chunk.length
    windowBytes += chunk.length
  })
  const watch = setInterval(() => {
    if (windowBytes < rate.bytesMin) {
      const said = `${windowBytes} octets in ${rate.windowMs} ms`
      response.destroy(new Giving('too-slow', said))
    }
    windowBytes = 0
  }, rate.windowMs)
  try {
    const bytes = await collect(decoded(response), bytesMax)
    return { status, tag: headers.etag, bytes, wireBytes }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const isCut = code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE'
    // A compressed file that ends too early.
    const isTorn = code === 'Z_BUF_ERROR' || !response.complete
    if (isCut || (isTorn && !(error instanceof Giving)))
      throw new Giving('cut-short', `the connection ended after ${wireBytes} octets`)
    throw error
  } finally {
    clearInterval(watch)
  }
}

function decoded(response: IncomingMessage): Readable {
  const encoding = response.headers['content-encoding'] ?? 'identity'
  if (encoding === 'identity') return response
  if (encoding !== 'zstd')
    throw new Giving('bad-encoding', `it uses the content encoding "${encoding.slice(0, 40)}"`)
  return pipeline(response, createZstdDecompress(), () => undefined)
}

async function collect(from: Readable, bytesMax: number): Promise<Uint8Array<SharedArrayBuffer>> {
  const chunks: Buffer[] = []
  let total = 0
  for await (const chunk of from as AsyncIterable<Buffer>) {
    total += chunk.length
    if (total > bytesMax) throw new Giving('too-large', `it sent more than ${bytesMax} octets`)
    chunks.push(chunk)
  }
  const bytes = new Uint8Array(new SharedArrayBuffer(total))
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

const empty = (): Uint8Array<SharedArrayBuffer> => new Uint8Array(new SharedArrayBuffer(0))
