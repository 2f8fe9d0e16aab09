// Returns the ways by which a service chooses: its algorithm, or its chain.
import type { Way } from '#routing/choose/way.ts'
import { algorithmNamed, filterNamed } from '#routing/choose/ways.ts'

/** The ways up to the first selecting one, which ends a chain; without unknown names. */
export function waysOfService(spec: {
  readonly algorithm: string
  readonly filterChain: readonly string[]
}): readonly Way[] {
  const { algorithm, filterChain } = spec
  const named =
    filterChain.length === 0
      ? [algorithmNamed(algorithm)]
      : filterChain.map((text) => filterNamed(text)?.way)
  const ways = named.filter((way) => way !== undefined)
  const last = ways.findIndex(({ kind }) => kind === 'selecting')
  return last < 0 ? ways : ways.slice(0, last + 1)
}
