// Sends requests to the identity provider: bounded in size, one deadline for a whole login, TLS
// unless on loopback.
import type { CustomFetch } from 'openid-client'
import { boundedBytes } from '#lib/bounded-body.ts'

export const oidcLimits = {
  /** Documents of a provider are a few kilobytes; one with very many keys has tens of them. */
  bytesMax: 1024 * 1024,
  /** What discovery may take, and then what the rest of a login may take. */
  discoveryMs: 4_000,
  loginMs: 8_000,
} as const

/** The only place to which requests without TLS go. */
export function isOnThisMachine(url: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(new URL(url).hostname)
}

/** @param deadline aborts whatever is on its way */
export function boundedFetch(deadline: AbortSignal): CustomFetch {
  return async (url, options) => {
    // What openid-client is allowed counts for every address that the provider names.
    if (new URL(url).protocol !== 'https:' && !isOnThisMachine(url)) {
      throw new TypeError('the provider names an address without TLS that is not on this machine')
    }
    const { signal } = options
    const answer = await fetch(url, {
      ...(options as RequestInit),
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
    })
    const { status, statusText, headers } = answer
    const bytes = await boundedBytes(answer.body, oidcLimits.bytesMax)
    return new Response(bytes.length === 0 ? null : bytes, { status, statusText, headers })
  }
}
