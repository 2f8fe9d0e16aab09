// The HTTP client of isomorphic-git, with limits on time and size, and errors that say what to do.
import type { HttpClient } from 'isomorphic-git'
import { sha256Advice } from '#gitops/git/repository-format.ts'
import { gitLimits } from '#gitops/limits.ts'
import { BodyTooLong, boundedBytes } from '#lib/bounded-body.ts'
import type { SourceError } from './config-source.ts'

/**
 * Crosses isomorphic-git, which only lets exceptions through; `remote-source.ts` turns it into a
 * value.
 */
export class RemoteError extends Error implements SourceError {
  readonly code: SourceError['code']
  readonly reason: string

  constructor({ code, reason }: SourceError) {
    super(reason)
    this.code = code
    this.reason = reason
  }
}

export function sha256Remote(url: string): RemoteError {
  const reason = `${url} names its objects by SHA-256. ${sha256Advice}`
  return new RemoteError({ code: 'ObjectFormat', reason })
}

export interface HttpLimits {
  readonly idleMs: number
  readonly totalMs: number
  readonly bytesMax: number
}

export const defaultHttpLimits: HttpLimits = {
  idleMs: gitLimits.networkIdleMs,
  totalMs: gitLimits.networkTotalMs,
  bytesMax: gitLimits.responseBytesMax,
}

/** @param name the remote without credentials, for messages. `stop` ends every request. */
export function createHttpClient(name: string, limits: HttpLimits, stop: AbortSignal): HttpClient {
  return {
    async request({ url, method = 'GET', headers = {}, body }) {
      const watch = new Watchdog(limits.idleMs)
      const signal = AbortSignal.any([watch.signal, stop, AbortSignal.timeout(limits.totalMs)])
      try {
        const payload = body === undefined ? null : Buffer.concat(await Array.fromAsync(body))
        const response = await fetch(url, { method, headers, body: payload, signal })
        const failure = failureOf(response.status, name)
        if (failure !== undefined) {
          await response.body?.cancel()
          throw new RemoteError(failure)
        }
        // Whole, before anyone parses it: isomorphic-git takes a body that breaks off for one that
        // ends, and a list of branches that was cut must not look like a short one.
        const content = await readBody(response, watch, bytesMaxFor(url, limits), name)
        return {
          url: response.url,
          method,
          statusCode: response.status,
          statusMessage: response.statusText,
          headers: Object.fromEntries(response.headers),
          body: once(content),
        }
      } catch (error) {
        throw explain(error, name)
      } finally {
        watch.stop()
      }
    },
  }
}

/** Aborts when nothing was heard for `idleMs`. */
class Watchdog {
  readonly #controller = new AbortController()
  readonly #timer: NodeJS.Timeout

  constructor(idleMs: number) {
    this.#timer = setTimeout(
      () => this.#controller.abort(new DOMException('idle', 'TimeoutError')),
      idleMs,
    )
    this.#timer.unref()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  heard(): void {
    this.#timer.refresh()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }
}

/** Only what brings objects may be as large as a repository. */
function bytesMaxFor(url: string, { bytesMax }: HttpLimits): number {
  const hasObjects = new URL(url).pathname.endsWith('/git-upload-pack')
  return hasObjects ? bytesMax : Math.min(bytesMax, gitLimits.programOutputBytesMax)
}

async function readBody(
  response: Response,
  watch: Watchdog,
  bytesMax: number,
  name: string,
): Promise<Buffer> {
  const heard = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      watch.heard()
      yield chunk
    }
  }
  try {
    return Buffer.from((await boundedBytes(heard(), bytesMax)).buffer)
  } catch (error) {
    if (!(error instanceof BodyTooLong)) throw error
    const reason =
      `The answer of ${name} is larger than ${bytesMax} bytes. The repository is too large ` +
      'for this node.'
    throw new RemoteError({ code: 'TooLarge', reason })
  }
}

async function* once(content: Buffer): AsyncIterableIterator<Uint8Array> {
  yield content
}

function failureOf(status: number, name: string): SourceError | undefined {
  if (status === 200) return undefined
  if (status === 401 || status === 403) {
    return {
      code: 'Unauthorized',
      reason:
        `${name} answered ${status}: the credentials are missing or not accepted. Set ` +
        'GSLB_GITOPS_URL to https://user:token@host/… with a token that may read the ' +
        'repository.',
    }
  }
  if (status === 404) {
    return {
      code: 'NotFound',
      reason:
        `${name} answered 404: there is no such repository, or the token may not see it. ` +
        'Check gitops.url.',
    }
  }
  if (status === 429) {
    return {
      code: 'TooManyRequests',
      reason: `${name} answered 429: it is asked too often. Raise gitops.poll.`,
    }
  }
  if (status >= 500) {
    return {
      code: 'ServerError',
      reason: `${name} answered ${status}: the Git server has a problem of its own.`,
    }
  }
  return {
    code: 'NotGit',
    reason: `${name} answered ${status}, which a Git server does not. Check gitops.url.`,
  }
}

/** The last words of `fetch` are in `cause`: the system's code, such as ECONNREFUSED. */
export function explain(error: unknown, name: string): RemoteError {
  if (error instanceof RemoteError) return error
  const {
    name: kind,
    message,
    cause,
  } = error as Error & { cause?: { code?: string; message?: string } }
  if (kind === 'TimeoutError' || cause?.code === 'UND_ERR_HEADERS_TIMEOUT') {
    return new RemoteError({
      code: 'Timeout',
      reason: `${name} did not answer in time. Check the network and the Git server.`,
    })
  }
  const detail = cause?.code ?? cause?.message ?? message
  const why = connectionFailures[detail] ?? detail
  return new RemoteError({ code: 'ConnectionFailed', reason: `${name} cannot be reached: ${why}.` })
}

const connectionFailures: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused; is the Git server running, and the port right',
  ENOTFOUND: 'its name does not resolve; check the host in gitops.url and the DNS of this machine',
  EAI_AGAIN: 'its name does not resolve now; check the DNS of this machine',
  ECONNRESET: 'it closed the connection',
  UND_ERR_SOCKET: 'it closed the connection',
  ENETUNREACH: 'there is no route to it',
  EHOSTUNREACH: 'there is no route to it',
  DEPTH_ZERO_SELF_SIGNED_CERT:
    'its certificate is self-signed; add its authority with NODE_EXTRA_CA_CERTS',
  CERT_HAS_EXPIRED: 'its certificate has expired',
}
