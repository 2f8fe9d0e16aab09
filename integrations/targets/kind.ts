// Defines a kind of discovery: how one sort of server is asked for members.
import type { Lookup } from '#inputs/resolve/lookup.ts'
import type { Result } from '#lib/result.ts'

/** A source of the settings. Times and names have their defaults. */
export interface SourceSettings {
  readonly name: string
  readonly type: string
  readonly path: string
  readonly url: string
  readonly user: string
  readonly kubeconfig: string
  /** Asked for where a member names none. */
  readonly service: string
  readonly intervalMs: number
  readonly timeoutMs: number
  /** Lower case. */
  readonly weightLabel: string
  /** Share of the members that may vanish at once. */
  readonly maxRemoved: number
  readonly removeAfterMs: number
  /** Ids of the tenants whose pools may name it; `allTenants` among them: each may. */
  readonly tenants: readonly string[]
}

export const allTenants = '*'

/** By name; names and values in lower case. A label may have several values, as tags. */
export type Labels = ReadonlyMap<string, readonly string[]>

/** A target as an answer has it; nothing of it was checked. */
export interface RawTarget {
  readonly address: string
  readonly port: number
  readonly labels: Labels
}

export interface KindAnswer {
  /** null: as in the answer before. */
  readonly targets: readonly RawTarget[] | null
  /** Handed to the next request; empty: there is none. */
  readonly cursor: string
  /** What would make it better, a sentence without its full stop. Left out: nothing. */
  readonly note?: string
}

export interface Asked {
  readonly service: string
  /** As the answer before gave it; empty: there is none, and all is to be said. */
  readonly cursor: string
  readonly signal: AbortSignal
}

/** Errors: a sentence without secrets. */
export type Ask = (asked: Asked) => Promise<Result<KindAnswer, string>>

/** Where secrets and names are looked up. */
export interface KindParts {
  /** Secret of the source, such as its TOKEN; undefined: none is given. Errors: a sentence. */
  readonly secret: (what: 'TOKEN' | 'PASSWORD') => Result<string | undefined, string>
  readonly env: NodeJS.ProcessEnv
  readonly lookup: Lookup
  /** As in `createDnsLookup`. */
  readonly resolvers: readonly string[]
  /** What other nodes found; left out: nothing is read of them. */
  readonly fleet?: {
    /** Rejects where it cannot be reached. null: nobody has told of it. */
    readonly read: (key: string) => Promise<string | null>
    readonly signerOf: (text: string, signature: string) => string | undefined
  }
  readonly nowMs: () => number
}

export interface DiscoveryKind {
  readonly name: string
  /** The settings that it must have. */
  readonly needs: readonly ('path' | 'url')[]
  /** Whether members say which service they want: `SOURCE/NAME`. */
  readonly service: 'none' | 'required' | 'any'
  /** How the name of a service is written; left out: NAME. */
  readonly serviceForm?: string
  /** What is said of a name that cannot be one of its services; undefined: it can. */
  readonly faultOfService?: (service: string) => string | undefined
  /** Whether a request with this cursor waits at the server until there is news. Left out: none. */
  readonly waits?: (cursor: string) => boolean
  /** True: to ask costs next to nothing, so that pauses after failures do not grow. */
  readonly isCheap?: boolean
  readonly create: (source: SourceSettings, parts: KindParts) => Ask
}
