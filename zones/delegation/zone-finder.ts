// The interface of both ways to find the servers of the zone above a domain: by a resolver, or from
// the root.
import type { Result } from '#lib/result.ts'
import type { Refusal } from './exchange.ts'
import type { ServerName } from './root-hints.ts'

export interface FoundZone {
  /** Lower case, with the final dot. */
  readonly name: string
  readonly servers: readonly ServerName[]
}

/** Serves one check. Calls never reject. */
export interface ZoneFinder {
  /** Errors: the text after `the domain …`. */
  readonly parentOf: (domain: string) => Promise<Result<FoundZone, Refusal>>
  /** Empty: unknown. */
  readonly addressesOf: (name: string) => Promise<readonly string[]>
}

/** Both in lower case, with the final dot. A name is inside itself. */
export function isInside(name: string, zone: string): boolean {
  return zone === '.' || name === zone || name.endsWith(`.${zone}`)
}
