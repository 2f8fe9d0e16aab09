// The interface of a tree rule: a function from the tree to findings.
import type { HealthCheckPolicy } from '#compiler/values/health-check-policy.ts'
import type { OverlayPlan } from '#compiler/lower/overlay-plan.ts'
import type { RecordPlan } from '#compiler/lower/record-plan.ts'
import type { RedirectPlan } from '#compiler/lower/redirect-plan.ts'
import type { ResponsePlan } from '#compiler/lower/response-plan.ts'
import type { Tree, TreeReport } from '#compiler/tree/tree.ts'
import type { ZonePlan } from '#compiler/lower/zone-plan.ts'

/** Checks the whole tree at every compilation: must be linear in the number of objects. */
export type TreeRule = (subject: RuleSubject, report: TreeReport) => void

export interface RuleSubject {
  readonly tree: Tree
  /** Undefined when the settings could not be read. */
  readonly zones: ZonePlan | undefined
  /** Undefined when the settings could not be read. */
  readonly records: RecordPlan | undefined
  readonly responses: ResponsePlan
  readonly redirects: RedirectPlan
  readonly overlays: OverlayPlan
  /** The time of the check; null: unknown, and nothing is reported as past. */
  readonly nowMs: number | null
  readonly limits: CompileLimits
  readonly checkPolicy: HealthCheckPolicy
  readonly subdivisions: SubdivisionSource
}

/** The subdivisions in which clients can be. */
export interface SubdivisionSource {
  /** Completes "there is no subdivision … in". */
  readonly name: string
  readonly has: (region: string) => boolean
}

/** Limits of one bundle, from `bundle/format/limits.ts`. */
export interface CompileLimits {
  readonly configurationBytesMax: number
  readonly zonesMax: number
  readonly servicesMax: number
  readonly poolsMax: number
  readonly membersMax: number
  readonly rrsetsMax: number
  readonly responseRulesMax: number
  readonly redirectsMax: number
  readonly rolloutsMax: number
  readonly windowsMax: number
}
