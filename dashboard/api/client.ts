// Calls the API of the node that this page came from, and turns refusals into sentences.
import { signal } from '@preact/signals'
import type { paths } from 'openapi-of-gslbd'
import { learnClock } from './clock.ts'
import { effectIn } from './effect.ts'

export interface Answer {
  readonly status: number
  /** JSON, text, or null without a body. */
  readonly body: unknown
  readonly etag: string
  readonly revision: string
  /** Consequences of the change, in the API's words. */
  readonly warnings: readonly string[]
  readonly affected: readonly string[]
  /** Cursor of the next page; empty: this is the last. */
  readonly next: string
  /** Clients that a dry run would move; empty: unknown. */
  readonly effect: string
}

interface Request {
  readonly method?: string
  readonly body?: unknown
  readonly ifMatch?: string
  readonly isDryRun?: boolean
  /** Subject of the commit; empty: a description of the change. */
  readonly subject?: string
  /** Time of each try, until the whole answer is there. */
  readonly timeoutMs?: number
}

/** A connection may hang for much longer; the node itself answers sooner. */
const answerMs = 120_000

/** A refusal. Its message is the API's own sentence. */
export class Refusal extends Error {
  readonly status: number
  readonly body: unknown

  constructor(status: number, body: unknown) {
    super(sentenceOf(status, body))
    this.status = status
    this.body = body
  }
}

/** True when a credential was refused during work: the user is asked to sign in again. */
export const isSessionOver = signal(false)

/** Each sign-in begins one. */
let session = 0
export const sessionNow = (): number => session

export function beginSession(): void {
  session++
  isSessionOver.value = false
}

/** @param of what `sessionNow` said at the request: a late refusal is of an earlier session */
export function endSession(of: number): void {
  if (of === session) isSessionOver.value = true
}

/** How many calls the node has refused as forbidden: permissions may have changed. */
export const forbidden = signal(0)

/** The first two different commits of responses; with one alone, all were of the same. */
export const firstRevisions = new Set<string>()

type Get<P extends keyof paths> = paths[P] extends {
  get: { responses: { 200: { content: { 'application/json': infer T } } } }
}
  ? T
  : never

/** The body of a GET, typed by the API's document. */
export async function read<P extends keyof paths>(
  path: P,
  ids: Readonly<Record<string, string>> = {},
): Promise<Get<P>> {
  return (await send(fill(path, ids))).body as Get<P>
}

/** Fills ids into a path such as `/pools/{id}`. */
export function fill(path: string, ids: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ids[name] ?? ''))
}

/** @throws Refusal */
export async function send(path: string, request: Request = {}): Promise<Answer> {
  const { method = 'GET', body, ifMatch, isDryRun = false, subject = '' } = request
  const headers: Record<string, string> = { accept: 'application/json, text/plain' }
  if (ifMatch !== undefined && ifMatch !== '') headers['if-match'] = ifMatch
  if (subject.trim() !== '') headers['x-gslb-subject'] = octetsOf(subject.trim())
  if (body !== undefined) headers['content-type'] = typeOf(method)
  const separator = path.includes('?') ? '&' : '?'
  const url = isDryRun ? `${path}${separator}dryRun=true` : path
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
  const own = sessionNow()
  const { response, found } = await ask(url, init, request.timeoutMs ?? answerMs, () => {
    const isWrite = method !== 'GET' && !isDryRun && !path.startsWith('/api/v1/auth/')
    return new Refusal(0, isWrite ? { error: mayBeDone } : null)
  })
  // A web page comes from a proxy in between, since the node sends data.
  const isPage = (response.headers.get('content-type') ?? '').startsWith('text/html')
  if (!response.ok) {
    if (response.status === 401 && !path.startsWith('/api/v1/auth/')) endSession(own)
    if (response.status === 403) forbidden.value += 1
    throw new Refusal(response.status, found)
  }
  if (isPage) throw new Refusal(response.status, { error: pageInstead })
  const header = (name: string): string => response.headers.get(name) ?? ''
  const revision = header('x-gslb-revision')
  if (revision !== '' && firstRevisions.size < 2) firstRevisions.add(revision)
  return {
    status: response.status,
    body: found,
    etag: header('etag'),
    revision,
    next: header('x-next-cursor'),
    warnings: stringsOf(header('x-gslb-warnings')),
    affected: stringsOf(header('x-gslb-affected')),
    effect: effectIn(header('x-gslb-effect')),
  }
}

/** A header field holds octets, here those of UTF-8. */
const octetsOf = (text: string): string => String.fromCharCode(...new TextEncoder().encode(text))

const pageInstead =
  'a page of HTML came in place of data: something between this browser and the node answers'

const mayBeDone =
  'the node does not answer, and it is not known whether it has done this: look before you try ' +
  'again'

const busyTriesMax = 8
const busyWaitMaxMs = 2_000

interface Asked {
  readonly response: Response
  readonly found: unknown
}

/** 503 means that nothing has happened yet: the request is repeated a little later. */
async function ask(
  url: string,
  init: RequestInit,
  timeoutMs: number,
  silence: () => Refusal,
): Promise<Asked> {
  for (let tries = 1; ; tries++) {
    const signal = AbortSignal.timeout(timeoutMs)
    const answered = fetch(url, { ...init, signal }).then(async (response) => {
      learnClock(response.headers.get('date'))
      return { response, found: await bodyOf(response) }
    })
    const asked = await answered.catch(() => {
      throw silence()
    })
    const { status, headers } = asked.response
    const wait = Number(headers.get('retry-after') ?? NaN)
    if (status !== 503 || Number.isNaN(wait) || tries === busyTriesMax) return asked
    await new Promise((resolve) => setTimeout(resolve, Math.min(wait * 1_000, busyWaitMaxMs)))
  }
}

/** RFC 7396 for a PATCH. */
export const typeOf = (method: string): string =>
  method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'

async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text()
  if (text === '') return null
  if (!(response.headers.get('content-type') ?? '').startsWith('application/json')) return text
  try {
    return JSON.parse(text) as unknown
  } catch {
    return null
  }
}

/** The strings of a list of RFC 8941, such as `1, "a \"b\".";code=x`. */
function stringsOf(header: string): string[] {
  return [...header.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) =>
    text.replace(/\\(.)/g, '$1'),
  )
}

function sentenceOf(status: number, body: unknown): string {
  const { error } = (body ?? {}) as { readonly error?: unknown }
  if (typeof error === 'string') return error
  if (status === 0) return 'the node does not answer: is it running, and can it be reached?'
  return `the node answered ${status} without a reason; its log may have one`
}

export const sentence = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

/** Whether another try may succeed: the node was away or at fault, or a proxy was. */
export const mayPass = (error: unknown): boolean =>
  error instanceof Refusal && (error.status < 400 || error.status >= 500)
