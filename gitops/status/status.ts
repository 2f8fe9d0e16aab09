// The GitOps status as plain JSON, for the status page, the log and the metrics.
import type { StatusDiagnostic } from '#diagnostics/status-diagnostic.ts'

/**
 * Reasons to hold a head. Each lasts until the head, the signers or an attestation changes.
 * `SignersUnreadable` may concern an accepted head as well: the next commit would be held.
 */
export type HoldCode =
  | 'HistoryRewritten'
  | 'Unsigned'
  | 'SignatureRefused'
  | 'TooManyCommits'
  | 'MalformedCommit'
  | 'SignersUnreadable'
  | 'CompileFailed'
  | 'NamesRemoved'
  | 'GuardrailReached'
  | 'CommitFatal'
  | 'BranchMissing'
  | 'StateUnreadable'

/** Reasons for which the source could not be asked; tried again with growing pauses. */
export type SourceCode =
  | 'BadUrl'
  | 'Unauthorized'
  | 'HostKeyRefused'
  | 'NotFound'
  | 'ServerError'
  | 'TooManyRequests'
  | 'ConnectionFailed'
  | 'Timeout'
  | 'NotGit'
  | 'ObjectFormat'
  | 'TooLarge'
  | 'Unreadable'
  | 'DiskFull'
  | 'WorkerFailed'
  | 'InternalError'

/** Whether the fault is on the node's own disk, so that a person is needed at the node. */
export function isOfDisk(code: GitopsStatus['code']): boolean {
  return code === 'DiskFull' || code === 'Unreadable'
}

export interface GitopsStatus {
  /** The newest commit of the branch that was seen. */
  readonly head: {
    readonly commit: string
    /** Author of the head; '' when the commit cannot be read. */
    readonly author: string
    /** Committer's time; 0 when the commit cannot be read. */
    readonly committedAtMs: number
  } | null
  /** The commit that was verified and compiled last. */
  readonly accepted: AcceptedCommit | null
  readonly sync: 'synced' | 'pending' | 'held' | 'unreachable'
  /** Why the node is not in step with the branch; '' while synced or pending. */
  readonly code: HoldCode | SourceCode | ''
  /** The same in sentences, with what to do; '' while synced or pending. */
  readonly reason: string
  /** Why a guardrail did not hold an accepted head, in sentences; or ''. */
  readonly note: string
  /** When this `code` began; 0 while the code is ''. */
  readonly sinceMs: number
  /** When a write last failed by a bug; 0: not within `gitLimits.faultShownMs`. */
  readonly faultAtMs: number
  /** Findings about the head, at most `gitLimits.diagnosticsMax`. */
  readonly diagnostics: readonly HeadDiagnostic[]
  /** How many findings there are, listed or not. */
  readonly diagnosticsTotal: number
  /** Outcomes of the steps of the last run, in order. */
  readonly conditions: readonly Condition[]
  /** When the last finished look began; 0: no look has finished. */
  readonly lookedFromMs: number
  /** When the source was last asked; 0: never. */
  readonly checkedAtMs: number
  /** When the source is asked next; 0: when the branch moves. */
  readonly nextCheckAtMs: number
}

export interface AcceptedCommit {
  readonly commit: string
  readonly seq: number
  /** Serial of the SOA records: the number of commits in the history; 0: not counted yet. */
  readonly serial: number
  /** SHA-256 of the bundle in hex. */
  readonly digest: string
  /** Principal and key fingerprint; '' when signatures are not required. */
  readonly signer: string
}

/** A finding about the head, with additional fields for terminals and forms. */
export interface HeadDiagnostic extends StatusDiagnostic {
  /** Path of the field, such as `spec.members.0.port`; '' when only file and line are known. */
  readonly field: string
  /**
   * For a conflict of two objects: the message from the other one's point of view. For a policy
   * test: what the owner of the asked name may read.
   */
  readonly messageOfOther?: string
  /** For a policy test that fails: the name that it asks for, as it is written there. */
  readonly asked?: string
  /** The whole report for a terminal, with its code frame. */
  readonly text: string
}

export interface Condition {
  readonly step: string
  readonly state: 'passed' | 'failed'
  /** Unix epoch, with fractions. */
  readonly startMs: number
  readonly endMs: number
}

/** How the log line begins when a write fails by a bug of this program. */
export const ownFault = 'A write failed by a mistake of gslbd'

export const unknownStatus: GitopsStatus = Object.freeze({
  head: null,
  accepted: null,
  sync: 'pending',
  code: '',
  reason: '',
  note: '',
  sinceMs: 0,
  faultAtMs: 0,
  diagnostics: [],
  diagnosticsTotal: 0,
  conditions: [],
  lookedFromMs: 0,
  checkedAtMs: 0,
  nextCheckAtMs: 0,
})
