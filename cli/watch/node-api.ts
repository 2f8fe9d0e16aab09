// Requests the public API of a node, for commands that show it.
import { isLoopbackName } from '#lib/loopback.ts'
import { UsageError, variable } from '#system/process/command.ts'
import type { Io } from '#system/process/command.ts'
import { plain } from '#cli/terminal/paint.ts'
import { boundedBytes } from '#lib/http/bounded-body.ts'
import { joinedClauses } from '#lib/clauses.ts'
import { fieldsOf, parseJson } from '#lib/text/json.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

/** Time for one request and its response. */
const patienceMs = 10_000
/** Octets; metrics of 10,000 pools have fewer. */
const bytesMax = 16 * 1_048_576
const defaultUrl = 'http://127.0.0.1:8080'

export interface ApiFault {
  /** 0: there was no response. */
  readonly status: number
  /** Cause and remedy. */
  readonly message: string
}

interface PostedJson {
  readonly body: object
  /** Time for a response that may take longer. */
  readonly patienceMs?: number
}

export interface NodeApi {
  readonly url: string
  readonly text: (path: string) => Promise<Result<string, ApiFault>>
  /** Statuses in `taken` count as responses, such as 503 of /api/v1/ready. */
  readonly json: (
    path: string,
    taken?: readonly number[],
    patienceMs?: number,
  ) => Promise<Result<unknown, ApiFault>>
  /** Without a body, or with JSON. */
  readonly post: (path: string, sent?: PostedJson) => Promise<Result<unknown, ApiFault>>
}

/** A key for a node. */
interface KeyUse {
  /** The environment variable that holds it. */
  readonly variable: string
  /** Remedy for a 401, as a clause. */
  readonly missing: string
}

const apiKeyUse: KeyUse = {
  variable: 'GSLB_API_KEY',
  missing: 'set GSLB_API_KEY to the key of that node',
}

/**
 * @param given `--url`, with or without `/api/v1`; left out: GSLB_API_URL, or this machine
 *
 * @returns errors: a sentence about the address or the key, which is only sent by https, to this
 * machine, or when GSLB_API_INSECURE permits that it is read on the way
 */
export function openNodeApi(
  given: string | undefined,
  env: Io['env'],
  keyUse = apiKeyUse,
): Result<NodeApi, string> {
  const { variable: keyName } = keyUse
  const address = given ?? variable(env, 'GSLB_API_URL') ?? defaultUrl
  const base = URL.canParse(address) ? new URL(address) : null
  if (base === null || !['http:', 'https:'].includes(base.protocol)) {
    return err(`"${plain(address)}" is no address of an API; write it like ${defaultUrl}`)
  }
  if (base.username !== '' || base.password !== '') {
    return err(`an address of an API holds no password; set ${keyName}`)
  }
  const key = variable(env, keyName)
  if (key !== undefined && !/^[!-~]+$/.test(key)) {
    return err(`${keyName} has a space or a letter outside ASCII: no server takes it`)
  }
  if (key !== undefined && isReadableOnTheWay(base, env)) return err(keyInTheClear(keyName, base))
  // Requested paths contain it.
  const url = base.href.replace(/(\/api\/v1)?\/*$/, '')
  const headers: Record<string, string> =
    key === undefined ? {} : { authorization: `Bearer ${key}` }
  const text = (path: string, taken: readonly number[] = [], waitMs?: number) =>
    read(url, path, { request: { headers }, taken, waitMs, keyUse })
  const parsed = (path: string, found: Result<string, ApiFault>): Result<unknown, ApiFault> => {
    if (!found.ok) return found
    const value = parseJson(found.value)
    if (value !== undefined) return ok(value)
    return err({ status: 200, message: `${url}${path} gives no JSON: is it the API of gslbd?` })
  }
  const json = async (path: string, taken?: readonly number[], waitMs?: number) =>
    parsed(path, await text(path, taken, waitMs))
  const post = async (path: string, sent?: PostedJson) => {
    const request =
      sent === undefined
        ? { headers, method: 'POST' }
        : {
            headers: { ...headers, 'content-type': 'application/json' },
            ...{ method: 'POST', body: JSON.stringify(sent.body) },
          }
    const { patienceMs: waitMs } = sent ?? {}
    return parsed(path, await read(url, path, { request, taken: [], waitMs, keyUse }))
  }
  return ok({ url, text, json, post })
}

/** The API that a command asks. @throws UsageError for an address or a key that no node takes */
export function nodeApiFor(url: string | undefined, io: Pick<Io, 'env'>, keyUse?: KeyUse): NodeApi {
  const api = openNodeApi(url, io.env, keyUse)
  if (!api.ok) throw new UsageError(api.error)
  return api.value
}

/** Plain HTTP reveals the key on the way, with all its permissions. */
function isReadableOnTheWay({ protocol, hostname }: URL, env: Io['env']): boolean {
  const isMeant = variable(env, 'GSLB_API_INSECURE') === 'true'
  return protocol === 'http:' && !isLoopbackName(hostname) && !isMeant
}

function keyInTheClear(keyName: string, { host }: URL): string {
  return (
    `${keyName} is not sent to ${host} over plain HTTP, where others could read it; use https, ` +
    `or an address of this machine (ssh -L), or unset ${keyName}. In a network that you trust, ` +
    'GSLB_API_INSECURE=true sends it all the same'
  )
}

interface Reading {
  readonly request: Readonly<RequestInit>
  readonly taken: readonly number[]
  readonly waitMs?: number | undefined
  readonly keyUse: KeyUse
}

async function read(
  url: string,
  path: string,
  { request, taken, waitMs = patienceMs, keyUse }: Reading,
): Promise<Result<string, ApiFault>> {
  try {
    const signal = AbortSignal.timeout(waitMs)
    // A redirect would send the key to its target.
    const response = await fetch(url + path, { ...request, signal, redirect: 'manual' })
    const { status } = response
    const body = Buffer.from(await boundedBytes(response.body, bytesMax)).toString('utf8')
    if (response.ok || taken.includes(status)) return ok(body)
    return err({ status, message: `${url}${path}: ${refusalOf(status, body, keyUse)}` })
  } catch (error) {
    return err({ status: 0, message: `${url} cannot be read: ${reasonOf(error, waitMs)}` })
  }
}

function refusalOf(status: number, body: string, keyUse: KeyUse): string {
  const said = saidIn(body)
  const help = helpOf(status, keyUse) ?? (said === '' ? 'is it the API of gslbd?' : '')
  return joinedClauses(`${status}${said}`, help)
}

function helpOf(status: number, { variable: keyName, missing }: KeyUse): string | undefined {
  if (status === 401) return missing
  if (status === 403) return `the key in ${keyName} may not do this`
  return status === 503 ? 'it is not ready for this yet; try again' : undefined
}

function saidIn(body: string): string {
  const { error } = fieldsOf(parseJson(body))
  return typeof error === 'string' ? ` ${plain(error.slice(0, 300))}` : ''
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
