// Defines operations, which are changes to the configuration as data, and their outcomes.
import type { Moved } from '#compiler/lower/name-outline.ts'
import type { JsonObject, JsonValue } from '#compiler/yaml/text.ts'
import type { Result } from '#lib/result.ts'
import type { Kind } from '#schemas/kinds.ts'
import type { changeLimitDefaults } from '#schemas/objects/guardrails.ts'
import type { ConfigEntry } from './entry.ts'
import type { PartKind } from './parts.ts'

/**
 * Names an object by id or by name. With `tenant` beside the id, objects of other tenants are not
 * found. Policies and settings have the tenant ''.
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
  /** Left out: an id is generated. */
  readonly uid?: string
  readonly spec: JsonObject
  readonly poolUid?: PoolUid
}

/**
 * Id of a pool. When the operation is applied, the field `pool` gets the current name of this pool.
 */
type PoolUid = string

export interface UpdateObject {
  readonly verb: 'update'
  readonly kind: Kind
  readonly target: Target
  /** Fields of the spec, each replaced whole; null removes a field, so that its default holds. */
  readonly patch: JsonObject
  /** Group of the spec that the patch applies to, such as `healthCheck`; the group must exist. */
  readonly group?: string
  readonly unless?: GroupGuard
  readonly poolUid?: PoolUid
  readonly ifMatch?: string
}

/**
 * Refuses an update by the value of a field. It is checked in the queue, since a value read earlier
 * may have changed.
 */
interface GroupGuard {
  readonly field: string
  readonly value: JsonValue
  /** Sentence of the refusal `forbidden`. */
  readonly message: string
}

/** Renames an object; references to a pool by its name are rewritten. */
export interface RenameObject {
  readonly verb: 'rename'
  readonly kind: Kind
  readonly target: Target
  readonly name: string
  readonly ifMatch?: string
}

/**
 * Deletes an object. The services of a pool stay, without a pool; its rollouts and windows go with
 * it.
 */
interface DeleteObject {
  readonly verb: 'delete'
  readonly kind: Kind
  readonly target: Target
  readonly ifMatch?: string
}

/** Disables members of a pool; ids that are no longer members are ignored. */
export interface DisableMembers {
  readonly verb: 'disable-members'
  readonly kind: 'Pool'
  readonly target: Target
  /** Lower case. */
  readonly members: readonly string[]
}

/**
 * Starts a rollout of a member, whose weight is read in the queue. An earlier ended rollout is
 * settled first.
 */
export interface BeginRollout {
  readonly verb: 'begin'
  readonly kind: 'Rollout'
  readonly tenant: string
  readonly name: string
  readonly uid: string
  readonly member: PartTarget
  /** Spec without the fields that come from the member: its pool, its id and its weight. */
  readonly spec: JsonObject
  readonly atMs: number
}

/**
 * Records a decision about a rollout. A decision that ends the rollout settles it, in the same
 * commit.
 */
export interface DecideRollout {
  readonly verb: 'decide'
  readonly kind: 'Rollout'
  readonly target: Target
  readonly intent: 'pause' | 'promote' | 'abort'
  readonly atMs: number
  readonly ifMatch?: string
}

/**
 * Records how a rollout has ended. Changes nothing when it has not ended, or is recorded already.
 */
export interface SettleRollout {
  readonly verb: 'settle'
  readonly kind: 'Rollout'
  readonly target: Target
  readonly atMs: number
  readonly regression?: Regression
}

interface Regression {
  readonly atMs: number
  /** Start of the attempt: a rollout with another start is another attempt. */
  readonly startAtMs: number
  /** Reason for people, one sentence. */
  readonly reason: string
}

/**
 * Records which members an active window holds out. Changes nothing when they are recorded already.
 */
interface RecordWindow {
  readonly verb: 'record'
  readonly kind: 'MaintenanceWindow'
  readonly target: Target
  readonly atMs: number
}

/** What the client is to be told of its request, beside warnings of the compiler. */
interface OwnWarning {
  readonly code: string
  readonly text: string
}

export interface CreatePart {
  readonly verb: 'create'
  readonly kind: PartKind
  readonly owner: Target
  readonly uid?: string
  readonly spec: JsonObject
  readonly warning?: OwnWarning
  /** Etag of the owner. */
  readonly ifMatch?: string
  readonly limit?: PartLimit
  /** Spec of an owner that is made when no owner has the name in `owner`. */
  readonly ownerSpec?: JsonObject
  readonly atMs?: RequestTime
}

/**
 * Limits the parts of an owner. They are counted in the queue, since an earlier count may be out of
 * date.
 */
interface PartLimit {
  readonly partsMax: number
  /** Sentence of the refusal `too-many`. */
  readonly message: string
}

export interface UpdatePart {
  readonly verb: 'update'
  readonly kind: PartKind
  readonly target: PartTarget
  readonly patch: JsonObject
  readonly warning?: OwnWarning
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
 * Time of a request about members, in Unix milliseconds: rollouts and windows of that time are
 * respected. Left out: they are ignored.
 */
type RequestTime = number

export interface PartTarget {
  readonly uid: string
  /** Parts of other tenants are not found. */
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

/**
 * The person or program that asks. The address is a pseudonym, since it stays in the history for
 * ever.
 */
export interface Actor {
  /** Name that the person chose; left out or empty: `name`. */
  readonly displayName?: string
  /** For programs: `user:0197…` */
  readonly name: string
  /** E-mail address of the account, for the log of the node; no commit has it. */
  readonly email?: string
  /** `user-0197…@users.gslbd` */
  readonly address: string
}

/**
 * A request of several operations: all are done, in order, or none. Each `ifMatch` is compared with
 * the state before the request.
 */
export interface WriteRequest {
  readonly requestId: string
  readonly actor: Actor
  readonly operations: readonly Operation[]
  /** Its protocol says in one request all that is to change: it may have many operations. */
  readonly hasMany?: true
  /**
   * Present: a system administrator asks, and the request may take names of others, and give a
   * tenant members at addresses of the node.
   */
  readonly mayTakeAnyName?: true
  /** Summary by the person, one line: the subject of a commit that has no other request. */
  readonly subject?: string
  /**
   * Reason why the request may remove more names than the settings permit; a trailer of the commit.
   */
  readonly override?: string
  /** Id of the commit that this one takes back; a trailer of the new commit. */
  readonly reverts?: string
  /** Present: all checks are made, and nothing is written. */
  readonly isDryRun?: true
  /**
   * Asks for `effect` in the outcome. With a tenant: on that tenant's names alone, where the commit
   * also changes those of others; null: on all names. Left out: no effect is computed.
   */
  readonly effectFor?: { readonly tenant: string | null }
  /** With `isDryRun`: asks for `bundle` and `files` in the outcome. */
  readonly wantsBundle?: true
  /**
   * Judgement by an earlier plan. Left out: `guardrails.movedClients` judges the effect of the
   * commit.
   */
  readonly judgement?: MovedJudgement
  /** Time that the client has already waited for a plan of the request. */
  readonly waitedMs?: number
  /** Asks for `stages` in the outcome. */
  readonly wantsStages?: true
}

/**
 * `wait`: until its turn. `prepare`: the operations, and the commit that they make. `judge`: whom
 * it moves. `commit`: its objects and the branch are on the disk, or at the remote. `publish`: the
 * bundle gets its record, and is handed over.
 */
export type WriteStageName = 'wait' | 'prepare' | 'compile' | 'judge' | 'commit' | 'publish'

/** Unix epoch, with fractions. */
export interface WriteStage {
  readonly name: WriteStageName
  readonly startMs: number
  readonly endMs: number
}

/** By `nobody`: the request was judged elsewhere, or there was no time to judge it. */
export type MovedJudgement =
  { readonly by: 'plan'; readonly moved: readonly Moved[] } | { readonly by: 'nobody' }

/** `objects` is in the order of the operations; null for a deleted object. */
export interface WriteSuccess {
  /** Id of the commit with the change, accepted and active on this node. */
  readonly revision: string
  /** False: the state was as requested already, and no commit was made. */
  readonly isChanged: boolean
  readonly objects: readonly (WrittenObject | null)[]
  /** New warnings of the compiler. */
  readonly warnings: readonly WriteDiagnostic[]
  /** Other objects that go, or lose something: sentences of `affectedBy`. */
  readonly affected: readonly string[]
  /** With `wantsBundle`: the bundle that would answer. */
  readonly bundle?: Uint8Array
  /** With `bundle`: the files of the repository that the request writes. */
  readonly files?: readonly WrittenFile[]
  /**
   * Id of the earlier commit that the request restores, which `guardrails.movedClients` then
   * permits.
   */
  readonly backTo?: string
  /**
   * Share of moved clients, such as `moved=12.4%; names=3`: for a dry run, and for a write with
   * `effectFor`. `moved=unknown`: it could not be computed in time.
   */
  readonly effect?: string
  /** With `wantsStages`, when there is a commit: in order, repeated ones as often as they were. */
  readonly stages?: readonly WriteStage[]
}

export interface WrittenFile {
  readonly path: string
  /** null: the file is deleted. */
  readonly text: string | null
}

export interface WrittenObject {
  readonly entry: ConfigEntry
  /** The part that the operation changed; null when it changed the whole object. */
  readonly part: JsonObject | null
}

export type WriteFailureCode =
  /** The object does not exist, or belongs to another tenant. */
  | 'not-found'
  /** Others may do this, but not this person. */
  | 'forbidden'
  /** A name, domain or address is taken; its owner is never named. */
  | 'conflict'
  /** `ifMatch` differs from the current state. */
  | 'precondition-failed'
  /** The owner would have more parts than `limit` of the operation. */
  | 'too-many'
  /** The request changes more than `guardrails` of the settings permits, and has no override. */
  | 'guarded'
  /** The change would not compile: see the diagnostics. */
  | 'invalid'
  /** The branch has a commit that is not accepted; the diagnostics are those of that commit. */
  | 'head-invalid'
  /** Commits of this node would not be accepted: its key is not in `allowed_signers`. */
  | 'not-trusted'
  /** The Git remote, or the local repository, does not answer. */
  | 'unreachable'
  /** The queue is full. */
  | 'busy'
  /** Other writes came first too many times in a row. */
  | 'contended'
  /** The change is in Git and not active here yet, or it is unknown whether it is in Git. */
  | 'uncertain'
  /** The node is stopping, or has not read its repository yet. */
  | 'unavailable'
  | 'internal'

/** Name of a limit of `guardrails` in `gslb.yaml`. */
export type GuardrailName = 'removedNames' | 'movedClients' | keyof typeof changeLimitDefaults

export interface WriteFailure {
  readonly code: WriteFailureCode
  /** Cause and remedy, in sentences for a person. */
  readonly message: string
  /** Position of the failed operation in the request; -1: more than one. */
  readonly operation: number
  readonly diagnostics: readonly WriteDiagnostic[]
  /** For `guarded`: name of the limit in `gslb.yaml`; left out: `removedNames`. */
  readonly guardrail?: GuardrailName
  /** For `guarded`: effect of the request, where it concerns one tenant's objects alone. */
  readonly own?: { readonly tenant: string; readonly message: string }
  /** For `guarded`: other names and objects that would go, or lose something. */
  readonly affected?: readonly string[]
}

export interface WriteDiagnostic {
  /** Code of the compiler, which `gslbd explain CODE` describes. */
  readonly code: string
  readonly message: string
  readonly help: string
  /** `spec.members.0.port`; '' when only file and line are known. */
  readonly field: string
  readonly file: string
  /** From 1; 0 when only the field is known. */
  readonly line: number
  /**
   * Object that would become invalid although the request did not touch it, such as `Service
   * "www"`.
   */
  readonly other?: string
  /** With `other`: what a tenant may read of it that may not see the file. */
  readonly own?: { readonly tenant: string; readonly message: string }
}

export type WriteResult = Result<WriteSuccess, WriteFailure>

/** The port for changes to the configuration; a finished write is durable and active. */
export interface ConfigWriter {
  readonly write: (request: WriteRequest) => Promise<WriteResult>
}

/** The guardrail needs a plan of the request, which may be sent again with a `judgement`. */
export type NeedsPlan = Omit<WriteFailure, 'code'> & { readonly code: 'needs-plan' }

export type CommitResult = Result<WriteSuccess, WriteFailure | NeedsPlan>

/** The port that makes commits. */
export interface CommitWriter {
  readonly write: (request: WriteRequest) => Promise<CommitResult>
}
