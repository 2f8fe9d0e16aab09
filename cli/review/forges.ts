// The table of hosting services that take the comment and the status of a review.
import { boundedBytes } from '#lib/bounded-body.ts'
import { err, ok } from '#lib/result.ts'
import type { Call, Forge } from './forge.ts'
import { github } from './github.ts'
import { gitlab } from './gitlab.ts'

export const forges: Readonly<Record<string, Forge>> = Object.freeze({ github, gitlab })

const patienceMs = 20_000
const bytesMax = 8 * 1024 * 1024

export function caller(forge: Forge, apiUrl: string, token: string): Call {
  const headers = { ...forge.headers(token), 'content-type': 'application/json' }
  return async (method, path, body) => {
    const asked = `${method} ${apiUrl}${path.replace(/\?.*/, '')}`
    try {
      const response = await fetch(apiUrl + path, {
        method,
        headers,
        // A redirect would send the token to whom it names.
        redirect: 'manual',
        signal: AbortSignal.timeout(patienceMs),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const bytes = Buffer.from(await boundedBytes(response.body, bytesMax))
      if (!response.ok) return err(`${asked} was answered ${response.status}`)
      return ok(bytes.length === 0 ? null : (JSON.parse(bytes.toString('utf8')) as unknown))
    } catch (error) {
      return err(`${asked} failed: ${(error as Error).message}`)
    }
  }
}
