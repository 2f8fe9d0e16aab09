// Asks a CA when it wants a certificate to be renewed. RFC 9773.
import type { IncomingHttpHeaders } from 'node:http'
import { fieldsOf } from '#lib/text/json.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { retryAfterMs } from '#integrations/http/json-client.ts'
import { CaTransport } from './ca-transport.ts'
import type { CaProblem } from './ca-transport.ts'
import { certificateId } from './certificate-id.ts'
import { readWindow } from './renewal-window.ts'
import type { SuggestedWindow } from './renewal-window.ts'

export interface RenewalQuestion {
  readonly directory: string
  /** PEM of the certificate in question. */
  readonly chain: string
  /** PEM of the authorities of the CA itself; undefined: those of Node. */
  readonly ca: string | undefined
  readonly signal: AbortSignal
  readonly nowMs: () => number
}

export interface RenewalAnswer {
  /** By the clock that asks; null: the CA says none. */
  readonly window: SuggestedWindow | null
  /** Time before which the CA wants no further question; null: it does not say. */
  readonly retryAfterMs: number | null
}

export type AskRenewal = (question: RenewalQuestion) => Promise<Result<RenewalAnswer, CaProblem>>

interface Answer {
  readonly data: unknown
  readonly status: number
  readonly headers: IncomingHttpHeaders
}

export const askRenewal: AskRenewal = async ({ directory, chain, ca, signal, nowMs }) => {
  const transport = new CaTransport({ ca, signal, nowMs })
  const get = async (url: string) => (await transport.send({ url, method: 'get' })) as Answer
  const fault = (message: string) => err({ code: 'away', message, retryAfterMs: null })
  try {
    const { renewalInfo: base } = fieldsOf((await get(directory)).data)
    const id = certificateId(chain)
    if (typeof base !== 'string' || id === null) return ok(none)
    const { data, status, headers } = await get(`${base.replace(/\/$/, '')}/${id}`)
    if (status >= 400) return err(transport.problem ?? { ...away, message: `it said ${status}` })
    const window = readWindow(data)
    if (window === null) return fault('what the CA says of the renewal is no window of time')
    const aheadMs = transport.clockOffsetMs ?? 0
    const [startMs, endMs] = [window.startMs + aheadMs, window.endMs + aheadMs]
    return ok({
      window: { ...window, startMs, endMs },
      retryAfterMs: retryAfterMs(headers, nowMs()),
    })
  } catch (error) {
    return err(transport.problem ?? { ...away, message: (error as Error).message })
  }
}

const none: RenewalAnswer = { window: null, retryAfterMs: null }
const away = { code: 'away', retryAfterMs: null } as const
