// The HTTP client of the vendor's licence server: registers trials, checks tokens for revocation.
// Without an answer in time nothing changes.
import { boundedBytes } from '#lib/http/bounded-body.ts'
import type { TrialKind } from '#state/ports/licences.ts'
import { fieldsOf, parseJson } from '#lib/text/json.ts'

export interface LicenceServer {
  /** @param baseUrl empty: there is no server, and the trial is `offline` */
  readonly registerTrial: (baseUrl: string, machine: TrialMachine) => Promise<TrialKind>
  readonly verify: (baseUrl: string, token: string) => Promise<Verdict>
}

interface TrialMachine {
  /** See `fingerprintOf`. */
  readonly fingerprint: string
  readonly installId: string
}

/** `unknown`: there was no valid answer. */
type Verdict = 'valid' | 'revoked' | 'unknown'

/** 500 ms for a trial, for which a request waits; other calls may take longer. */
const serverLimits = { trialMs: 500, verifyMs: 1_000 }
const bodyBytesMax = 65_536

export function createLicenceServer({ trialMs, verifyMs } = serverLimits): LicenceServer {
  return {
    registerTrial: async (baseUrl, machine) => {
      if (baseUrl === '') return 'offline'
      const answer = await ask(baseUrl, 'trial/register', trialMs, machine)
      if (answer?.status === 201) return 'online'
      return answer?.status === 409 ? 'grace' : 'offline'
    },
    verify: async (baseUrl, token) => {
      if (baseUrl === '') return 'unknown'
      const path = `verify/${encodeURIComponent(token)}`
      const answer = await ask(baseUrl, path, verifyMs)
      return answer?.status === 200 ? verdictOf(answer.body) : 'unknown'
    },
  }
}

interface Answer {
  readonly status: number
  readonly body: string
}

/**
 * @returns undefined: no answer in time. Redirects are not followed, so that no other server gets
 * the token
 */
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
    const bytes = await boundedBytes(response.body, bodyBytesMax)
    return { status: response.status, body: Buffer.from(bytes).toString('utf8') }
  } catch {
    return undefined
  }
}

function verdictOf(text: string): Verdict {
  const { valid, error } = fieldsOf(parseJson(text))
  if (valid === true) return 'valid'
  return valid === false && error === 'revoked' ? 'revoked' : 'unknown'
}
