// Builds the view that a thread answers from: a bundle, its state, and the policies bound to them.
import { RrsetCell } from '#bundle/format/rrsets.ts'
import { RrType } from '#dns/rrtype.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { absentZones } from '#bundle/load/absent-zones.ts'
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

/** A bundle and its state, as sent between threads. */
export interface Generation {
  readonly number: number
  readonly bundle: Uint8Array
  readonly digest: string
  /** Records written at run time: zones/dynamic/written-bundle.ts. null or left out: none. */
  readonly dynamic?: HandedBundle | null
  readonly routing: RoutingBuffers
  readonly tables: RoutingTables
  /** Changes when `tables` lie in other memory. From 1; 0: tables are not counted. */
  readonly tablesNumber?: number
  /** null or left out: script steps change nothing. */
  readonly scripts?: ScriptSet | null
  /** Cells of response-hits.ts for the bundle's rules; left out: hits are not read. */
  readonly responseHits?: SharedArrayBuffer
  /** Keys and signatures; null or left out: signed zones cannot be answered. */
  readonly signing?: HandedSigning | null
  /** Marks and cells of query-meter.ts for the bundle; left out: counts are not read. */
  readonly serviceQueries?: SharedArrayBuffer
}

/** A checked bundle, as sent between threads. */
export interface HandedBundle {
  readonly bytes: Uint8Array
  readonly digest: string
}

/** Immutable, except for shared memory that it refers to. */
export interface ServingView {
  readonly generation: number
  readonly bundle: Bundle
  /** Commit in hexadecimal digits; empty: built from a directory. */
  readonly commit: Uint8Array
  /**
   * Records written at run time in zones of `bundle`; those of TXT are merged with static ones of
   * the same names.
   */
  readonly dynamic: Bundle | undefined
  /** The same, where it has types besides TXT: names of `bundle` without a type are looked up. */
  readonly typed: Bundle | undefined
  readonly state: RoutingState
  /** By row of the bundle's `policyRow`. */
  readonly policies: readonly Policy[]
  /** Result of `packNetworks`; null: client networks are searched linearly. */
  readonly networks: SharedArrayBuffer | null
  /** Client networks exempt from rate limits; see rate-limit/limiter.ts. */
  readonly rateLimitExempt: readonly string[]
  /** See absent-zones.ts. */
  readonly absent: Uint8Array | null
  /** See response-hits.ts. */
  readonly responseHits: Int32Array
  /** See query-meter.ts. */
  readonly serviceQueries: Float64Array
  /** By node and by member; see use-marks.ts. */
  readonly usedNames: Int32Array
  readonly usedMembers: Int32Array
  readonly signer: Signer
  /** The node has signing keys. */
  readonly isSigning: boolean
}

/** Transactions of one thread may share a view. */
interface ViewOwner {
  /** Number of the thread, which has its own counts. Default 0. */
  readonly thread?: number
  /** null or left out: script steps change nothing. */
  readonly scripts?: ScriptPort | null
  /** Passed from view to view of a thread; left out: the view has its own. */
  readonly choices?: ChoiceMemory
  /** Passed from view to view like `choices`, for keys. */
  readonly signing?: Pick<SigningMemory, 'signerOf'>
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
    ...writtenOf(dynamic),
    state: new RoutingState(bundle, routing),
    policies: createPolicies(environment, choices),
    networks: tables.networks ?? null,
    rateLimitExempt: environment.settings.rateLimitExempt ?? [],
    absent: absentZones(bundle),
    responseHits: hitCells(bundle, responseHits),
    serviceQueries: queryCells(bundle, thread, serviceQueries),
    usedNames: marks.names,
    usedMembers: marks.members,
    ...signing.signerOf(bundle, generation.signing ?? null),
  }
}

function writtenOf(handed: Generation['dynamic']): Pick<ServingView, 'dynamic' | 'typed'> {
  if (!handed) return { dynamic: undefined, typed: undefined }
  const dynamic = adoptBundle(handed.bytes, handed.digest)
  const { rrsetRow } = dynamic
  for (let at = RrsetCell.Type; at < rrsetRow.length; at += RrsetCell.Words) {
    const type = rrsetRow[at]
    // Each apex has a SOA record, which says nothing.
    if (type !== RrType.TXT && type !== RrType.SOA) return { dynamic, typed: dynamic }
  }
  return { dynamic, typed: undefined }
}

/** The view of a thread that answers nobody and signs ahead: nothing in it chooses, or counts. */
export function createSigningView(
  bundle: Bundle,
  {
    number,
    dynamic,
    routing,
    signing,
  }: Pick<Generation, 'number' | 'dynamic' | 'routing' | 'signing'>,
  memory: SigningMemory,
): ServingView {
  const { names, members } = useMarks(bundle)
  return {
    ...{ generation: number, bundle, commit: new Uint8Array(0), policies: [], networks: null },
    ...writtenOf(dynamic),
    state: new RoutingState(bundle, routing),
    ...{ rateLimitExempt: [], absent: null, responseHits: new Int32Array(0) },
    ...{ serviceQueries: new Float64Array(0), usedNames: names, usedMembers: members },
    ...memory.signerOf(bundle, signing ?? null),
  }
}
