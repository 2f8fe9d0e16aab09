// Builds the view that a thread answers from: a bundle, its state, and what is bound to them.
import type { Bundle } from '#bundle/format/bundle.ts'
import { adoptBundle } from '#bundle/load/load.ts'
import { createEnvironment } from '#routing/choose/environment.ts'
import type { RoutingTables } from '#routing/choose/environment.ts'
import { createPolicies } from '#routing/choose/policy.ts'
import type { Policy } from '#routing/choose/policy.ts'
import type { ChoiceMemory } from '#routing/choose/choice-memory.ts'
import type { ScriptPort } from '#routing/script/port.ts'
import { RoutingState } from '#routing/state/state.ts'
import type { RoutingBuffers } from '#routing/state/state.ts'
import { queryCells } from '#answer/counters/query-meter.ts'
import { hitCells } from '#answer/counters/response-hits.ts'
import { useMarks } from '#answer/counters/use-marks.ts'
import type { ScriptSet } from './script-mailbox.ts'
import type { Signer } from '#answer/signing/signer.ts'
import { SigningMemory } from '#answer/signing/signing-memory.ts'
import type { HandedSigning } from '#answer/signing/signing-keys.ts'

/** A bundle and its state, as they travel between threads. */
export interface Generation {
  readonly number: number
  readonly bundle: Uint8Array
  readonly digest: string
  /** See zones/dynamic/txt-bundle.ts; without it, or null, there are no such records. */
  readonly dynamic?: HandedBundle | null
  readonly routing: RoutingBuffers
  readonly tables: RoutingTables
  /** Changes when `tables` lie in other memory. From 1; 0: tables are not counted. */
  readonly tablesNumber?: number
  /** Without it, or null, script steps change nothing. */
  readonly scripts?: ScriptSet | null
  /** Cells of response-hits.ts for the bundle's rules; without it nobody reads the counts. */
  readonly responseHits?: SharedArrayBuffer
  /** Keys and signatures; without them, or null, what is to be signed cannot be answered. */
  readonly signing?: HandedSigning | null
  /** Marks and cells of query-meter.ts for the bundle; without it nobody reads the counts. */
  readonly serviceQueries?: SharedArrayBuffer
}

/** A checked bundle as it travels. */
export interface HandedBundle {
  readonly bytes: Uint8Array
  readonly digest: string
}

/** Never changes once it is made; what it points to in shared memory does. */
export interface ServingView {
  readonly generation: number
  readonly bundle: Bundle
  /** Its commit in hexadecimal digits; empty: it was made from a directory. */
  readonly commit: Uint8Array
  /** TXT records written at run time, in the zones of `bundle`; static ones of their names too. */
  readonly dynamic: Bundle | undefined
  readonly state: RoutingState
  /** By row of the bundle's `policyRow`. */
  readonly policies: readonly Policy[]
  /** What `packNetworks` gives; null: client networks are searched from end to end. */
  readonly networks: SharedArrayBuffer | null
  /** Networks of clients that are not limited; see rate-limit/limiter.ts. */
  readonly rateLimitExempt: readonly string[]
  /** See response-hits.ts. */
  readonly responseHits: Int32Array
  /** See query-meter.ts. */
  readonly serviceQueries: Float64Array
  /** By node and by member; see use-marks.ts. */
  readonly usedNames: Int32Array
  readonly usedMembers: Int32Array
  readonly signer: Signer
  /** There are keys. */
  readonly isSigning: boolean
}

/** Transactions of one thread may share a view. */
export interface ViewOwner {
  /** Which of the threads it is for: its counts are its own. Default 0. */
  readonly thread?: number
  /** Without it, or null, script steps change nothing. */
  readonly scripts?: ScriptPort | null
  /** Goes from view to view of a thread; without it the view has its own. */
  readonly choices?: ChoiceMemory
  /** The same of keys. */
  readonly signing?: SigningMemory
}

export function createServingView(
  generation: Generation,
  { thread = 0, scripts = null, choices, signing = new SigningMemory() }: ViewOwner = {},
): ServingView {
  const bundle = adoptBundle(generation.bundle, generation.digest)
  const { number, dynamic, tables, routing, responseHits, serviceQueries } = generation
  const marks = useMarks(bundle, serviceQueries)
  const environment = createEnvironment(bundle, tables, scripts)
  return {
    generation: number,
    bundle,
    commit: Buffer.from(bundle.manifest.commit),
    dynamic: dynamic ? adoptBundle(dynamic.bytes, dynamic.digest) : undefined,
    state: new RoutingState(bundle, routing),
    policies: createPolicies(environment, choices),
    networks: tables.networks ?? null,
    rateLimitExempt: environment.settings.rateLimitExempt ?? [],
    responseHits: hitCells(bundle, responseHits),
    serviceQueries: queryCells(bundle, thread, serviceQueries),
    usedNames: marks.names,
    usedMembers: marks.members,
    ...signing.signerOf(bundle, generation.signing ?? null),
  }
}
