// How requests of the ACME client reach a CA: one after the other, in bounded time and memory, with
// the authorities of the settings. It takes what the client would throw away: what kind of fault a
// CA says, until when it wants to be left alone, and what time it has.
import { AsyncLocalStorage } from 'node:async_hooks'
import { Mutex } from '#lib/mutex.ts'
import { askAny, retryAfterMs } from '#integrations/http/json-client.ts'
import type { JsonRequest } from '#integrations/http/json-client.ts'
import { fieldsOf, parseJson } from '#lib/text/json.ts'
import { version } from '#lib/version.ts'
import { acmeRequests } from './acme-client.ts'
import type { AcmeRequest } from './acme-client.ts'

interface CaTransportParts {
  /** PEM; undefined: the authorities that come with Node. */
  readonly ca: string | undefined
  readonly signal: AbortSignal
  readonly nowMs: () => number
}

export interface CaProblem {
  /** A word of RFC 8555 section 6.7; `away`: no answer, or none that is ACME. */
  readonly code: string
  readonly message: string
  /** null: the CA does not say. */
  readonly retryAfterMs: number | null
}

const transportLimits = {
  timeoutMs: 20_000,
  bodyBytesMax: 1_048_576,
  messageMax: 600,
} as const

const here = new AsyncLocalStorage<CaTransport>()

export class CaTransport {
  readonly #parts: CaTransportParts
  readonly #mutex = new Mutex()
  #problem: CaProblem | null = null
  #clockOffsetMs: number | null = null

  constructor(parts: CaTransportParts) {
    this.#parts = parts
  }

  /** Runs `work`, whose client sends its requests this way. */
  run<T>(work: () => Promise<T>): Promise<T> {
    return here.run(this, work)
  }

  /** The last fault: named by the CA, or the reason why it did not answer. */
  get problem(): CaProblem | null {
    return this.#problem
  }

  /** How far the clock of this node is ahead (+) of that of the CA; null: it said no time. */
  get clockOffsetMs(): number | null {
    return this.#clockOffsetMs
  }

  /** The client reads all authorizations at once: a CA counts requests in a second. */
  send(request: AcmeRequest): Promise<unknown> {
    return this.#mutex.take(() => this.#exchange(request))
  }

  async #exchange(request: AcmeRequest): Promise<unknown> {
    const { host, protocol } = new URL(request.url ?? '')
    if (protocol !== 'https:') throw this.#fail('away', `${host} is not asked without TLS`, null)
    const asked = await askAny(this.#requestOf(request), transportLimits.timeoutMs)
    if (!asked.ok) throw this.#fail('away', asked.error, null)
    const { response, text } = asked.value
    const { statusCode = 0, statusMessage = '', headers } = response
    this.#noteTime(headers.date)
    const data = /json/.test(headers['content-type'] ?? '') ? parseJson(text) : text
    this.#noteProblem(data)
    const waitMs = retryAfterMs(headers, this.#parts.nowMs())
    const type = wordOf(fieldsOf(data)['type'])
    if (statusCode === 429 || type === 'rateLimited') {
      throw this.#fail('rateLimited', said(data) ?? 'it limits rates', waitMs)
    }
    if (statusCode >= 500 || (statusCode >= 300 && type === null)) {
      const what = said(data) ?? `it answered ${statusCode}`
      throw this.#fail(type ?? 'away', `${host}: ${what}`, waitMs)
    }
    return { data, status: statusCode, statusText: statusMessage, headers, config: request }
  }

  #requestOf({ url = '', method = 'get', data }: AcmeRequest): JsonRequest {
    const { ca, signal } = this.#parts
    return {
      ...{ url, method: method.toUpperCase() as JsonRequest['method'], signal },
      headers: {
        'user-agent': `gslbd/${version} acme-client`,
        accept: 'application/json, */*',
      },
      ...(typeof data === 'string' ? { body: data, bodyType: 'application/jose+json' } : {}),
      ...(ca === undefined ? {} : { tls: { ca } }),
      bytesMax: transportLimits.bodyBytesMax,
    }
  }

  #fail(code: string, message: string, retryAfterMs: number | null): Error {
    this.#problem = { code, message: shown(message), retryAfterMs }
    // The error has no request, so that the client does not try again by itself.
    return new Error(message)
  }

  /** The fault of the answer, or of a proof that was refused; without one the last is over. */
  #noteProblem(data: unknown): void {
    const { error, challenges } = fieldsOf(data)
    const refused = Array.isArray(challenges) ? challenges.map((one) => fieldsOf(one)['error']) : []
    const found = [data, error, ...refused].map(fieldsOf).find(({ type }) => wordOf(type) !== null)
    const { type, detail } = found ?? {}
    const code = wordOf(type)
    const message = shown(typeof detail === 'string' ? detail : (code ?? ''))
    this.#problem = code === null ? null : { code, message, retryAfterMs: null }
  }

  #noteTime(date: string | undefined): void {
    const theirs = Date.parse(date ?? '')
    if (!Number.isNaN(theirs)) this.#clockOffsetMs = Math.round(this.#parts.nowMs() - theirs)
  }
}

acmeRequests.defaults.adapter = (request) => {
  const transport = here.getStore()
  if (transport === undefined) throw new Error('the ACME client asks outside of a transport')
  return transport.send(request)
}

const errorWord = /^urn:ietf:params:acme:error:([A-Za-z]{1,60})$/
const wordOf = (type: unknown): string | null =>
  (typeof type === 'string' ? errorWord.exec(type)?.[1] : undefined) ?? null

function said(data: unknown): string | undefined {
  const { detail } = fieldsOf(data)
  return typeof detail === 'string' ? detail : undefined
}

/** Cleans texts of a CA, which go into logs, pages and alerts. */
const shown = (text: string): string =>
  text
    .replaceAll(/[^ -~]+/g, ' ')
    .slice(0, transportLimits.messageMax)
    .replace(/\.+$/, '')
