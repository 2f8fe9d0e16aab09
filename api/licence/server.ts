// The vendor's licence server, asked over HTTP: whether there was a trial, whether a token is
// revoked. What it does not say in time changes nothing.
import type { TrialKind } from '#state/ports/licences.ts'

export interface LicenceServer {
  /** @param baseUrl empty: there is no server, and the trial is `offline` */
  readonly registerTrial: (baseUrl: string, machine: TrialMachine) => Promise<TrialKind>
  readonly verify: (baseUrl: string, token: string) => Promise<Verdict>
}

export interface TrialMachine {
  /** See `fingerprintOf`. */
  readonly fingerprint: string
  readonly installId: string
}

/** `unknown`: no answer, or none that can be read. */
export type Verdict = 'valid' | 'revoked' | 'unknown'

/** Document A, "Trial": 500 ms; what answers no request of a person may wait longer. */
export const serverLimits = { trialMs: 500, verifyMs: 1_000, bodyBytesMax: 65_536 } as const

export const httpLicenceServer: LicenceServer = {
  registerTrial: async (baseUrl, machine) => {
    if (baseUrl === '') return 'offline'
    const answer = await ask(baseUrl, 'trial/register', serverLimits.trialMs, machine)
    if (answer?.status === 201) return 'online'
    return answer?.status === 409 ? 'grace' : 'offline'
  },
  verify: async (baseUrl, token) => {
    if (baseUrl === '') return 'unknown'
    const path = `verify/${encodeURIComponent(token)}`
    const answer = await ask(baseUrl, path, serverLimits.verifyMs)
    return answer?.status === 200 ? verdictOf(answer.body) : 'unknown'
  },
}

interface Answer {
  readonly status: number
  readonly body: string
}

/** undefined: no answer in time. A redirect is not followed: the token is for that server alone. */
async function ask(
  baseUrl: string,
  path: string,
  timeoutMs: number,
  body?: object,
): Promise<Answer | undefined> {
  try {
    const url = new URL(`api/v1/${path}`, baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`)
    const response = await fetch(url, {
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      ...(body === undefined
        ? {}
        : {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify(body),
          }),
    })
    return { status: response.status, body: await boundedText(response) }
  } catch {
    return undefined
  }
}

/** @throws when there is more than a licence server has to say */
async function boundedText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length
    if (bytes > serverLimits.bodyBytesMax) throw new Error('the answer is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function verdictOf(text: string): Verdict {
  try {
    const body = JSON.parse(text) as { valid?: unknown; error?: unknown } | null
    if (body?.valid === true) return 'valid'
    return body?.valid === false && body.error === 'revoked' ? 'revoked' : 'unknown'
  } catch {
    return 'unknown'
  }
}
