// The type of an operation, a change to the configuration as data, and of its outcome.
import type { Moved } from '#compiler/lower/name-outline.ts'
import type { JsonObject, JsonValue } from '#compiler/yaml/text.ts'
import type { Result } from '#lib/result.ts'
import type { Kind } from '#schemas/kinds.ts'
import type { changeLimitDefaults } from '#schemas/objects/guardrails.ts'
import type { ConfigEntry } from './entry.ts'
import type { PartKind } from './parts.ts'

/**
 * An object by id or by name. With `tenant` beside the id, the objects of other tenants do not
 * exist. Policies and settings have the tenant ''.
 */
export type Target =
  | { readonly uid: string; readonly tenant?: string }
  | { readonly tenant: string; readonly name: string }

export interface CreateObject {
  readonly verb: 'create'
  readonly kind: Kind
  /** For a Tenant: its own id, which is also its name. */
  readonly tenant: string
  readonly name: string
  /** Without it, one is made. */
  readonly uid?: string
  readonly spec: JsonObject
  readonly poolUid?: PoolUid
}

/** Id of a pool: the field `pool` gets the name that this pool has when its turn comes. */
export type PoolUid = string

export interface UpdateObject {
  readonly verb: 'update'
  readonly kind: Kind
  readonly target: Target
  /** Fields of the spec, each set whole; null removes it, so that its default holds. */
  readonly patch: JsonObject
  /** The patch is of this group of the spec, such as `healthCheck`, which must be there. */
  readonly group?: string
  readonly unless?: GroupGuard
  readonly poolUid?: PoolUid
  readonly ifMatch?: string
}

/** Looked at in the queue: what is read before it may have changed by then. */
export interface GroupGuard {
  readonly field: string
  readonly value: JsonValue
  /** Sentence of the refusal `forbidden`. */
  readonly message: string
}

/** What refers to a pool by its name is rewritten with it. */
export interface RenameObject {
  readonly verb: 'rename'
  readonly kind: Kind
  readonly target: Target
  readonly name: string
  readonly ifMatch?: string
}

/** The services of a pool stay, without a pool; its rollouts and windows go with it. */
export interface DeleteObject {
  readonly verb: 'delete'
  readonly kind: Kind
  readonly target: Target
  readonly ifMatch?: string
}

/** Disables members of a pool; ids that are no members of it any more are ignored. */
export interface DisableMembers {
  readonly verb: 'disable-members'
  readonly kind: 'Pool'
  readonly target: Target
  /** Lower case. */
  readonly members: readonly string[]
}

/**
 * A new rollout of a member, whose weight is captured as it is in the queue. An earlier one that is
 * over is settled before.
 */
export interface BeginRollout {
  readonly verb: 'begin'
  readonly kind: 'Rollout'
  readonly tenant: string
  readonly name: string
  readonly uid: string
  readonly member: PartTarget
  /** Without what the member says: its pool, its id and its weight. */
  readonly spec: JsonObject
  readonly atMs: number
}

/** What ends the rollout settles it, in the same commit. */
export interface DecideRollout {
  readonly verb: 'decide'
  readonly kind: 'Rollout'
  readonly target: Target
  readonly intent: 'pause' | 'promote' | 'abort'
  readonly atMs: number
  readonly ifMatch?: string
}

/** Writes down how a rollout has ended. Changes nothing where it has not, or where it is said. */
export interface SettleRollout {
  readonly verb: 'settle'
  readonly kind: 'Rollout'
  readonly target: Target
  readonly atMs: number
  readonly regression?: Regression
}

export interface Regression {
  readonly atMs: number
  /** Start of the attempt: a rollout that starts anew is another attempt. */
  readonly startAtMs: number
  /** A sentence for people. */
  readonly reason: string
}

/** Writes down whom an active window holds out. Changes nothing where that is written. */
export interface RecordWindow {
  readonly verb: 'record'
  readonly kind: 'MaintenanceWindow'
  readonly target: Target
  readonly atMs: number
}

export interface CreatePart {
  readonly verb: 'create'
  readonly kind: PartKind
  readonly owner: Target
  readonly uid?: string
  readonly spec: JsonObject
  /** Etag of the owner. */
  readonly ifMatch?: string
  readonly limit?: PartLimit
  /** Where there is no owner of the name that `owner` gives, one is made of this spec. */
  readonly ownerSpec?: JsonObject
  readonly atMs?: RequestTime
}

/** Counted in the queue: what is read before it may have changed by then. */
export interface PartLimit {
  readonly partsMax: number
  /** Sentence of the refusal `too-many`. */
  readonly message: string
}

export interface UpdatePart {
  readonly verb: 'update'
  readonly kind: PartKind
  readonly target: PartTarget
  readonly patch: JsonObject
  readonly ifMatch?: string
  readonly atMs?: RequestTime
}

export interface DeletePart {
  readonly verb: 'delete'
  readonly kind: PartKind
  readonly target: PartTarget
  readonly ifMatch?: string
  readonly atMs?: RequestTime
}

/**
 * Unix epoch, of a request about members: what rollouts and windows say then is respected. Without
 * it they are not looked at.
 */
export type RequestTime = number

export interface PartTarget {
  readonly uid: string
  /** Parts of other tenants do not exist. */
  readonly tenant?: string
}

export type ObjectOperation =
  | CreateObject
  | UpdateObject
  | RenameObject
  | DeleteObject
  | DisableMembers
  | BeginRollout
  | DecideRollout
  | SettleRollout
  | RecordWindow
export type PartOperation = CreatePart | UpdatePart | DeletePart
export type Operation = ObjectOperation | PartOperation

/** The address is a pseudonym: it stays in the history for ever. */
export interface Actor {
  /** As the person wants to be called; without it, or empty: `name`. */
  readonly displayName?: string
  /** For programs: `user:0197…` */
  readonly name: string
  /** E-mail address of the account, for the log of the node; no commit has it. */
  readonly email?: string
  /** `user-0197…@users.gslbd` */
  readonly address: string
}

/**
 * All operations of a request are done, in order, or none. `ifMatch` of each is compared with what
 * was there before the request.
 */
export interface WriteRequest {
  readonly requestId: string
  readonly actor: Actor
  readonly operations: readonly Operation[]
  /** Its protocol says in one request all that is to change: it may have many operations. */
  readonly hasMany?: true
  /** A system administrator asks: it may have names that belong to others. */
  readonly mayTakeAnyName?: true
  /** What the person says of it, in one line: the subject of a commit that has no other request. */
  readonly subject?: string
  /** Why it may remove more names than the settings permit; a trailer of the commit. */
  readonly override?: string
  /** The commit that it takes back; a trailer of the new one. */
  readonly reverts?: string
  /** All checks, and nothing is written. */
  readonly isDryRun?: true
  /**
   * The outcome has its `effect`: with a tenant, on that tenant's names alone where the commit also
   * changes those of others; null: on all names. Left out: the effect is not worked out for it.
   */
  readonly effectFor?: { readonly tenant: string | null }
  /** With `isDryRun`: the caller reads `bundle` and `files` of the outcome. */
  readonly wantsBundle?: true
  /** Left out: `guardrails.movedClients` judges it by the effect of its commit. */
  readonly judgement?: MovedJudgement
  /** For so long its client has waited already, for a plan of it. */
  readonly waitedMs?: number
}

/** By `nobody`: it was judged elsewhere, or there was no time for it. */
export type MovedJudgement =
  { readonly by: 'plan'; readonly moved: readonly Moved[] } | { readonly by: 'nobody' }

/** In the order of the operations; null for what was deleted. */
export interface WriteSuccess {
  /** The commit that has the change, accepted and active on this node. */
  readonly revision: string
  /** False: it was so already, and no commit was made. */
  readonly isChanged: boolean
  readonly objects: readonly (WrittenObject | null)[]
  /** Warnings of the compiler that were not there before. */
  readonly warnings: readonly WriteDiagnostic[]
  /** What else goes, or loses something: sentences of `affectedBy`. */
  readonly affected: readonly string[]
  /** Where it was wanted: what would answer. */
  readonly bundle?: Uint8Array
  /** With `bundle`: the files of the repository that it writes. */
  readonly files?: readonly WrittenFile[]
  /** The commit that it goes back to: otherwise `guardrails.movedClients` would refuse it. */
  readonly backTo?: string
  /**
   * What it moves, such as `moved=12.4%; names=3`: for a dry run, and for a write with `effectFor`.
   * `moved=unknown`: it was to be planned, and could not be in time.
   */
  readonly effect?: string
}

export interface WrittenFile {
  readonly path: string
  /** null: the file goes. */
  readonly text: string | null
}

export interface WrittenObject {
  readonly entry: ConfigEntry
  /** The part that the operation was about; null when it was the whole object. */
  readonly part: JsonObject | null
}

export const writeFailureCodes = [
  /** There is no such object, or it belongs to another tenant. */
  'not-found',
  /** Others may, not who asked. */
  'forbidden',
  /** A name, domain or address is taken; never says by whom. */
  'conflict',
  /** `ifMatch` names another state than the current one. */
  'precondition-failed',
  /** The owner would have more parts than `limit` of the operation. */
  'too-many',
  /** It alters more than `guardrails` of the settings permits, and has no override. */
  'guarded',
  /** The change would not compile: see the diagnostics. */
  'invalid',
  /** The branch has a commit that is not accepted: see the diagnostics, which are those of it. */
  'head-invalid',
  /** Commits of this node would not be accepted: its key is not in `allowed_signers`. */
  'not-trusted',
  /** The Git remote, or the local repository, does not answer. */
  'unreachable',
  /** The queue is full. */
  'busy',
  /** Others were faster too many times in a row. */
  'contended',
  /** The change is in Git and not active here yet, or it is not known whether it is in Git. */
  'uncertain',
  /** The node is stopping, or has not looked at its repository yet. */
  'unavailable',
  'internal',
] as const
export type WriteFailureCode = (typeof writeFailureCodes)[number]

/** A limit of `guardrails` in `gslb.yaml`. */
export type GuardrailName = 'removedNames' | 'movedClients' | keyof typeof changeLimitDefaults

export interface WriteFailure {
  readonly code: WriteFailureCode
  /** Sentences for a person: what is wrong, what to do. */
  readonly message: string
  /** Position in the request of the operation that failed; -1: not one alone. */
  readonly operation: number
  readonly diagnostics: readonly WriteDiagnostic[]
  /** For `guarded`: the limit in `gslb.yaml`; left out: `removedNames`. */
  readonly guardrail?: GuardrailName
  /** For `guarded`: what the request does, where that concerns objects of one tenant alone. */
  readonly own?: { readonly tenant: string; readonly message: string }
  /** For `guarded`: other names and objects that would go, or lose something. */
  readonly affected?: readonly string[]
}

export interface WriteDiagnostic {
  /** The compiler's code: `gslbd explain CODE` says more. */
  readonly code: string
  readonly message: string
  readonly help: string
  /** `spec.members.0.port`; '' when only file and line are known. */
  readonly field: string
  readonly file: string
  /** From 1; 0 when only the field is known. */
  readonly line: number
  /** `Service "www"`, when the request did not touch it and it would no longer be right. */
  readonly other?: string
}

export type WriteResult = Result<WriteSuccess, WriteFailure>

/** The port by which the configuration is changed; what it wrote is durable and live. */
export interface ConfigWriter {
  readonly write: (request: WriteRequest) => Promise<WriteResult>
}

/** It takes a plan to find out what it moves: it may be sent again with a `judgement`. */
export type NeedsPlan = Omit<WriteFailure, 'code'> & { readonly code: 'needs-plan' }

export type CommitResult = Result<WriteSuccess, WriteFailure | NeedsPlan>

/** The port to what makes commits. */
export interface CommitWriter {
  readonly write: (request: WriteRequest) => Promise<CommitResult>
}
