// Calls the API of gslbd, typed by its OpenAPI document.
import type { AnswerOf, Arguments, Common, Method, PathOf } from './operations.ts'
import { Unreachable, refusalOf } from './problem.ts'
import { defaultRetries, withRetries } from './retries.ts'
import type { Retries } from './retries.ts'

export interface ClientOptions {
  /** Such as `https://gslbd.example.net:8080`, without `/api/v1`. */
  readonly baseUrl: string
  /** Key of a tenant or of the system, or the token of a session. */
  readonly apiKey?: string
  readonly retries?: Partial<Retries>
  /** In place of the global one, such as one with a certificate of your own. */
  readonly fetch?: typeof fetch
}

export interface Answer<Body> {
  readonly status: number
  readonly body: Body
  /** For `ifMatch`; empty: it has none. */
  readonly etag: string
  /** The commit that the answer is of; empty: it is of none. */
  readonly revision: string
  /** Cursor of the next page; empty: this is the last. */
  readonly next: string
  readonly headers: Headers
}

type Call<M extends Method> = <P extends PathOf<M>>(
  path: P,
  ...given: Arguments<M, P>
) => Promise<Answer<AnswerOf<M, P>>>

/** Each call throws `ApiError` for a refusal, `Unreachable` without an answer. */
export type Client = { readonly [M in Method]: Call<M> }

interface AnyGiven extends Common {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
}

export function createClient({
  baseUrl,
  apiKey = '',
  retries = {},
  fetch: ask = fetch,
}: ClientOptions): Client {
  const base = baseUrl.replace(/\/+$/, '')
  const bounds = { ...defaultRetries, ...retries }
  const callOf =
    (method: string) =>
    async (path: string, given: AnyGiven = {}): Promise<Answer<unknown>> => {
      const { signal, isRepeatable, query = {}, params = {} } = given
      const asked = { method, path: filled(path, params) }
      const init = requestOf(method, given, apiKey)
      const url = `${base}${asked.path}${queryText(query)}`
      const send = (): Promise<Response> =>
        ask(url, init).catch((error: unknown) => {
          signal?.throwIfAborted()
          throw new Unreachable(asked, base, error)
        })
      const response = await withRetries({ method, isRepeatable, signal, retries: bounds }, send)
      const body = await bodyOf(response)
      // 304 is the answer that `ifNoneMatch` asks for.
      if (!response.ok && response.status !== 304) throw refusalOf(asked, response, body)
      return answerOf(response, body)
    }
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
  const calls = methods.map((method) => [method.toLowerCase(), callOf(method)])
  return Object.fromEntries(calls) as Client
}

/** Fills names such as `{id}`: `a/b` becomes `a%2Fb`. */
function filled(path: string, params: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
}

function queryText(query: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}

function requestOf(method: string, given: AnyGiven, apiKey: string): RequestInit {
  const { body, signal, ifMatch, ifNoneMatch, subject, override } = given
  const fields: Readonly<Record<string, string | undefined>> = {
    accept: 'application/json, text/plain',
    authorization: apiKey === '' ? undefined : `Bearer ${apiKey}`,
    'content-type': body === undefined ? undefined : contentTypeOf(method),
    'if-match': ifMatch,
    'if-none-match': ifNoneMatch,
    'x-gslb-subject': octetsOf(subject),
    'x-gslb-override': octetsOf(override),
  }
  const isGiven = (field: [string, string | undefined]): field is [string, string] =>
    field[1] !== undefined && field[1] !== ''
  return {
    method,
    headers: Object.fromEntries(Object.entries(fields).filter(isGiven)),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  }
}

const contentTypeOf = (method: string): string =>
  method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'

/** A header field holds octets, here those of UTF-8. */
const octetsOf = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : String.fromCharCode(...new TextEncoder().encode(text))

async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text()
  if (text === '') return null
  if (!(response.headers.get('content-type') ?? '').startsWith('application/json')) return text
  return JSON.parse(text) as unknown
}

function answerOf({ status, headers }: Response, body: unknown): Answer<unknown> {
  const field = (name: string): string => headers.get(name) ?? ''
  return {
    ...{ status, body, headers },
    etag: field('etag'),
    revision: field('x-gslb-revision'),
    next: field('x-next-cursor'),
  }
}
