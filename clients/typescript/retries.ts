// Sends a request again that was refused for now (429, 503), within bounds.

export interface Retries {
  /** Requests for one call, with the first; 1: none is repeated. */
  readonly tries: number
  /** An answer that asks for a longer wait is given to the caller. */
  readonly waitMaxMs: number
}

export const defaultRetries: Retries = { tries: 5, waitMaxMs: 30_000 }

const firstWaitMs = 250
/** Clients that were refused together come back apart. */
const jitterPart = 0.2

/**
 * Methods of which the second time changes nothing. A PATCH is one here, since it is a merge patch
 * (RFC 7396). A POST is not: behind a 503 of a proxy it may have been done.
 */
const repeatable: ReadonlySet<string> = new Set(['GET', 'PUT', 'PATCH', 'DELETE'])

export interface Sending {
  readonly method: string
  /** Repeat it whatever the method. */
  readonly isRepeatable: boolean | undefined
  readonly signal: AbortSignal | undefined
  readonly retries: Retries
}

/** @returns the last answer, which may still be a refusal */
export async function withRetries(
  { method, isRepeatable = repeatable.has(method), signal, retries }: Sending,
  send: () => Promise<Response>,
): Promise<Response> {
  for (let sent = 1; ; sent++) {
    const response = await send()
    const isForNow = response.status === 429 || response.status === 503
    if (!isForNow || !isRepeatable || sent >= retries.tries) return response
    const waitMs = waitMsOf(response.headers, sent, randomPart())
    if (waitMs > retries.waitMaxMs) return response
    // An unread body would keep the connection.
    await response.body?.cancel()
    await wait(waitMs, signal)
  }
}

/**
 * How long to wait: as `Retry-After` says (RFC 9110 section 10.2.3), else longer each time.
 *
 * @param part from 0 to 1, at random
 */
export function waitMsOf(headers: Headers, sent: number, part: number): number {
  const retryAfterMs = retryAfterMsOf(headers)
  const leastMs = retryAfterMs ?? firstWaitMs * 2 ** (sent - 1)
  // No earlier than told.
  return leastMs * (1 + jitterPart * part)
}

function retryAfterMsOf(headers: Headers): number | undefined {
  const field = headers.get('retry-after')?.trim() ?? ''
  if (/^\d{1,9}$/.test(field)) return Number(field) * 1_000
  // By the clock of the server, which may be another one than ours.
  const [then, now] = [Date.parse(field), Date.parse(headers.get('date') ?? '')]
  return Number.isNaN(then - now) ? undefined : Math.max(0, then - now)
}

function randomPart(): number {
  const [value = 0] = crypto.getRandomValues(new Uint32Array(1))
  return value / 2 ** 32
}

/** @throws the reason of the signal */
async function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted()
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  const stop = (): void => resolve()
  signal?.addEventListener('abort', stop, { once: true })
  await promise
  clearTimeout(timer)
  signal?.removeEventListener('abort', stop)
  signal?.throwIfAborted()
}
