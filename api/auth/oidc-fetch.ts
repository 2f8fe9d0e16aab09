// Requests to the identity provider: of bounded size, and all of one login within one time.
import type { CustomFetch } from 'openid-client'

export const oidcLimits = {
  /** Documents of a provider are a few kilobytes; one with very many keys has tens of them. */
  bytesMax: 1024 * 1024,
  /** What discovery may take, and then what the rest of a login may take. */
  discoveryMs: 4_000,
  loginMs: 8_000,
} as const

/** @param deadline aborts whatever is on its way */
export function boundedFetch(deadline: AbortSignal): CustomFetch {
  return async (url, options) => {
    const { signal } = options
    const answer = await fetch(url, {
      ...(options as RequestInit),
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
    })
    const { status, statusText, headers } = answer
    const bytes = await bytesOf(answer)
    return new Response(bytes.length === 0 ? null : bytes, { status, statusText, headers })
  }
}

async function bytesOf({ body }: Response): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let count = 0
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    count += chunk.length
    if (count > oidcLimits.bytesMax) throw new TypeError('the answer is longer than 1 MiB')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
