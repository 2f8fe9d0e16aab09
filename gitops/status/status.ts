// The GitOps status as plain JSON, for the status page, the log and the metrics.
import type { StatusDiagnostic } from '#diagnostics/status-diagnostic.ts'

/**
 * Reasons for which a head is held. Each stays until the head, the signers or an attestation
 * changes. `SignersUnreadable` is said of an accepted head, too: the next one would be held.
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

/** A person is needed at the node itself: nothing elsewhere is wrong. */
export function isOfDisk(code: GitopsStatus['code']): boolean {
  return code === 'DiskFull' || code === 'Unreadable'
}

export interface GitopsStatus {
  /** Newest commit of the branch that was seen. */
  readonly head: {
    readonly commit: string
    /** '' when the commit cannot be read. */
    readonly author: string
    /** 0 when the commit cannot be read. */
    readonly committedAtMs: number
  } | null
  /** The commit that was verified and compiled last. */
  readonly accepted: AcceptedCommit | null
  readonly sync: 'synced' | 'pending' | 'held' | 'unreachable'
  /** '' while synced or pending. */
  readonly code: HoldCode | SourceCode | ''
  /** '' or sentences: what is wrong, and what to do. */
  readonly reason: string
  /** '' or sentences about an accepted head: why a guardrail did not hold it. */
  readonly note: string
  /** When this `code` began; 0 while it is ''. */
  readonly sinceMs: number
  /** When a write last failed by a mistake of ours; 0: not within `gitLimits.faultShownMs`. */
  readonly faultAtMs: number
  /** At most `gitLimits.diagnosticsMax`. */
  readonly diagnostics: readonly HeadDiagnostic[]
  /** How many there are; not all may be listed. */
  readonly diagnosticsTotal: number
  /** The steps of the last run, in order. */
  readonly conditions: readonly Condition[]
  /** When the last look that ended began; 0: none has. */
  readonly lookedFromMs: number
  /** 0: never. */
  readonly checkedAtMs: number
  /** 0: when the branch moves. */
  readonly nextCheckAtMs: number
}

export interface AcceptedCommit {
  readonly commit: string
  readonly seq: number
  /** Serial of the SOA records: how many commits its history has; 0: not counted yet. */
  readonly serial: number
  /** SHA-256 of the bundle, hex. */
  readonly digest: string
  /** Principal and key fingerprint; '' when signatures are not required. */
  readonly signer: string
}

/** A finding about the head, with what a terminal and a form need besides. */
export interface HeadDiagnostic extends StatusDiagnostic {
  /** `spec.members.0.port`; '' when only file and line are known. */
  readonly field: string
  /** The message as seen from the other one of two objects that do not go together. */
  readonly messageOfOther?: string
  /** The whole report for a terminal, code frame included. */
  readonly text: string
}

export interface Condition {
  readonly step: string
  readonly state: 'passed' | 'failed'
  readonly tookMs: number
}

/** How a line about a write begins that failed by a mistake in this program. */
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
