// Asks the public API of a node, for commands that show it.
import { isLoopbackName } from '#lib/loopback.ts'
import { variable } from '#cli/terminal/command.ts'
import type { Io } from '#cli/terminal/command.ts'
import { plain } from '#cli/terminal/paint.ts'
import { boundedBytes } from '#lib/bounded-body.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

/** Of one request, its answer included. */
const patienceMs = 10_000
/** Metrics of 10,000 pools are less. */
const bytesMax = 16 * 1_048_576
const defaultUrl = 'http://127.0.0.1:8080'

export interface ApiFault {
  /** 0: there was no answer. */
  readonly status: number
  /** What is wrong and what to do. */
  readonly message: string
}

export interface PostedJson {
  readonly body: object
  /** Where the answer may take longer than that of others. */
  readonly patienceMs?: number
}

export interface NodeApi {
  readonly url: string
  readonly text: (path: string) => Promise<Result<string, ApiFault>>
  /** Statuses in `taken` are answers, too: 503 of /api/v1/ready. */
  readonly json: (path: string, taken?: readonly number[]) => Promise<Result<unknown, ApiFault>>
  /** Without a body, or with JSON. */
  readonly post: (path: string, sent?: PostedJson) => Promise<Result<unknown, ApiFault>>
}

/**
 * @param given `--url`; without it GSLB_API_URL, or this machine
 * @returns errors: a sentence about the address or the key, which goes over https, to this machine,
 *   or where GSLB_API_INSECURE says that it may be read on the way
 */
export function openNodeApi(given: string | undefined, env: Io['env']): Result<NodeApi, string> {
  const address = given ?? variable(env, 'GSLB_API_URL') ?? defaultUrl
  const base = URL.canParse(address) ? new URL(address) : null
  if (base === null || !['http:', 'https:'].includes(base.protocol)) {
    return err(`"${plain(address)}" is no address of an API; write it like ${defaultUrl}`)
  }
  if (base.username !== '' || base.password !== '') {
    return err('an address of an API holds no password; set GSLB_API_KEY')
  }
  const key = variable(env, 'GSLB_API_KEY')
  if (key !== undefined && !/^[!-~]+$/.test(key)) {
    return err('GSLB_API_KEY has a space or a letter outside ASCII: no server takes it')
  }
  if (key !== undefined && isReadableOnTheWay(base, env)) return err(keyInTheClear(base))
  const url = base.href.replace(/\/+$/, '')
  const headers: Record<string, string> =
    key === undefined ? {} : { authorization: `Bearer ${key}` }
  const text = (path: string, taken: readonly number[] = []) => read(url, path, { headers }, taken)
  const parsed = (path: string, found: Result<string, ApiFault>): Result<unknown, ApiFault> => {
    if (!found.ok) return found
    try {
      return ok(JSON.parse(found.value) as unknown)
    } catch {
      const message = `${url}${path} gives no JSON: is it the API of gslbd?`
      return err({ status: 200, message })
    }
  }
  const json = async (path: string, taken?: readonly number[]) =>
    parsed(path, await text(path, taken))
  const post = async (path: string, sent?: PostedJson) => {
    const request =
      sent === undefined
        ? { headers, method: 'POST' }
        : {
            headers: { ...headers, 'content-type': 'application/json' },
            ...{ method: 'POST', body: JSON.stringify(sent.body) },
          }
    return parsed(path, await read(url, path, request, [], sent?.patienceMs))
  }
  return ok({ url, text, json, post })
}

/** Whoever sees the traffic has the key, and with it may do everything. */
function isReadableOnTheWay({ protocol, hostname }: URL, env: Io['env']): boolean {
  const isMeant = variable(env, 'GSLB_API_INSECURE') === 'true'
  return protocol === 'http:' && !isLoopbackName(hostname) && !isMeant
}

function keyInTheClear({ host }: URL): string {
  return (
    `GSLB_API_KEY is not sent to ${host} over plain HTTP, where others could read it; use https, ` +
    'or an address of this machine (ssh -L), or unset GSLB_API_KEY. In a network that you trust, ' +
    'GSLB_API_INSECURE=true sends it all the same'
  )
}

async function read(
  url: string,
  path: string,
  request: Readonly<RequestInit>,
  taken: readonly number[],
  waitMs = patienceMs,
): Promise<Result<string, ApiFault>> {
  try {
    const signal = AbortSignal.timeout(waitMs)
    // A redirect would send the key to whom it names.
    const response = await fetch(url + path, { ...request, signal, redirect: 'manual' })
    const { status } = response
    const body = Buffer.from(await boundedBytes(response.body, bytesMax)).toString('utf8')
    if (response.ok || taken.includes(status)) return ok(body)
    return err({ status, message: `${url}${path}: ${refusalOf(status, body)}` })
  } catch (error) {
    return err({ status: 0, message: `${url} cannot be read: ${reasonOf(error, waitMs)}` })
  }
}

const helpByStatus: Readonly<Record<number, string>> = {
  401: 'set GSLB_API_KEY to the key of that node',
  403: 'the key in GSLB_API_KEY may not do this',
  404: 'that node does not have this',
  503: 'it is not ready for this yet; try again',
}

function refusalOf(status: number, body: string): string {
  const said = saidIn(body)
  const help = helpByStatus[status] ?? (said === '' ? 'is it the API of gslbd?' : undefined)
  return `${status}${said}${help === undefined ? '' : `; ${help}`}`
}

function saidIn(body: string): string {
  try {
    const { error } = JSON.parse(body) as { readonly error?: unknown }
    return typeof error === 'string' ? ` ${plain(error.slice(0, 300))}` : ''
  } catch {
    return ''
  }
}

function reasonOf(error: unknown, waitMs: number): string {
  const { name, message, cause } = error as Error
  if (name === 'TimeoutError') return `no answer within ${waitMs / 1000} s`
  const { code } = (cause ?? {}) as NodeJS.ErrnoException
  if (code === 'ECONNREFUSED') {
    return 'nothing listens there; set api.enabled, start the node, or name another --url'
  }
  return plain(cause instanceof Error ? cause.message || String(code) : message)
}
