// Defines the document of a plan: which clients get another answer, and from where to where they
// move.

export interface Plan {
  /** Version of this form. It changes when a field is removed or gets another meaning. */
  readonly format: 1
  readonly base: PlannedSide
  readonly head: PlannedSide
  readonly weights: ClientWeights
  readonly summary: PlanSummary
  /** A scenario for each instant and assumed health. */
  readonly scenarios: readonly PlannedScenario[]
  /** Differences that show in no answer now, or not fully, and may show in answers later. */
  readonly later: readonly LaterChange[]
  /** Sentences about what the plan could not know. */
  readonly warnings: readonly string[]
}

/** How clients are weighted. */
export interface ClientWeights {
  readonly by: 'addresses' | 'traffic'
  /** Origin of the counts; '': addresses were weighed. */
  readonly source: string
  /** For how long was counted; null: unknown. */
  readonly seconds: number | null
  /**
   * Number of sampled queries, or reports of browsers, behind the counts; null: all were counted.
   */
  readonly sampled: number | null
}

export interface PlannedSide {
  /** The side as it was asked for: a file, a directory or a ref. */
  readonly source: string
  /** Commit in hex; '': the side is not a commit. */
  readonly commit: string
  readonly digest: string
}

export interface PlanSummary {
  /** Number of names and of answers (name and type) that differ in any scenario. */
  readonly names: number
  readonly answers: number
  readonly addedNames: number
  readonly removedNames: number
  /** Answers that exist before and not after. */
  readonly removedAnswers: number
  readonly comparedNames: number
  /**
   * Largest share, 0 to 1, of an answer's clients that is sent elsewhere. Only answers that exist
   * on both sides count, and clients that had an address before.
   */
  readonly movedMax: number
  /** '': none moves. */
  readonly movedMaxName: string
  /** In 19 of 20 plans `movedMax` errs by no more; errors of counted traffic are not included. */
  readonly movedMaxError: number
  readonly laterChanges: number
}

export interface PlannedScenario {
  /** RFC 3339. */
  readonly at: string
  readonly health: 'all-up' | 'given'
  readonly traffic: ExpectedTraffic
  /** Countries of whose clients some move, most first; null: no database. */
  readonly countries: readonly CountryMovement[] | null
  /** In the order of names. Where there are too many, those that move the most clients. */
  readonly changes: readonly AnswerChange[]
  /** Further ones, which the summary, the traffic and the countries count as well. */
  readonly omitted: number
}

/** Where in the world clients move, over all answers that differ. */
export interface CountryMovement {
  /** Such as `DE` or `continent:EU`; '': in no database. */
  readonly place: string
  /** The largest part of its clients that moves at a name which is there before; 0 to 1. */
  readonly movedOfPlace: number
  /** At which name. */
  readonly name: string
}

/** Traffic of each member from the answers that differ. From others it gets what it got. */
export interface ExpectedTraffic {
  /** `share`: parts of the whole, 0 to 1, with the same weight for each answer. */
  readonly unit: TrafficUnit
  /** Largest change first. */
  readonly members: readonly MemberTraffic[]
}

export type TrafficUnit = 'share' | 'queries' | 'queries-per-second'

export interface MemberTraffic extends Endpoint {
  readonly before: number
  readonly after: number
}

/** `added`, `removed`: the name has no answer of this type on the other side. */
export type ChangeKind = 'added' | 'removed' | 'changed'

export interface AnswerChange {
  readonly name: string
  readonly type: string
  readonly kind: ChangeKind
  /** Tenant of the service; '': records of a zone. */
  readonly tenant: string
  readonly before: PlannedAnswer
  readonly after: PlannedAnswer
  /** null: the answer is the same for each client, and sends nobody anywhere. */
  readonly movement: Movement | null
}

export interface PlannedAnswer {
  readonly rcode: string
  readonly ttlSeconds: number | null
  /** How a service chooses; '': no service answers. */
  readonly policy: string
  /** Records of the answer; empty where a service answers. */
  readonly records: readonly string[]
  /** Records of a delegation, and addresses beside the answer. */
  readonly others: readonly string[]
}

export interface Movement {
  readonly ipv4: FamilyMovement
  readonly ipv6: FamilyMovement
}

/** Movement in one family. Shares are parts of all its clients, 0 to 1. */
export interface FamilyMovement {
  /** Share of clients that go elsewhere, by the first address of an answer. */
  readonly moved: number
  /** Share of clients that get another answer; another order, TTL or probability counts as well. */
  readonly differs: number
  /** In 19 of 20 plans `moved` is off by no more. Errors of counted traffic are not included. */
  readonly error: number
  /** Largest first. Where members would make thousands of flows, they are between pools. */
  readonly flows: readonly Flow[]
  /**
   * Where clients are sent, before and after. Where a sticky step spreads clients and none of them
   * move, or all do, they are counted by the weights of the step; `error` does not cover the
   * difference. The same is true of `flows`.
   */
  readonly members: readonly MemberTraffic[]
  /** Largest first; null: there is no database. */
  readonly countries: readonly PlaceMovement[] | null
  /** Places that are not listed, with fewer clients that move; for later movements, all of them. */
  readonly countriesOmitted: number
  readonly operators: readonly PlaceMovement[] | null
  readonly operatorsOmitted: number
}

export interface Endpoint {
  /**
   * Address or host name. Without a member: its records, or a word such as `NXDOMAIN`. '': in a
   * flow, all members of the pool.
   */
  readonly member: string
  readonly pool: string
  readonly region: string
}

export interface Flow {
  readonly from: Endpoint
  readonly to: Endpoint
  readonly share: number
}

export interface PlaceMovement {
  /** A place such as `DE` or `AS64500 Example`; '': in no database. */
  readonly place: string
  /** Share of all clients that are in the place and move. */
  readonly moved: number
  /** Share of the clients of the place that move. */
  readonly movedOfPlace: number
}

export interface LaterChange {
  readonly kind: LaterKind
  /** Subject that differs, such as `pool web`. */
  readonly subject: string
  readonly tenant: string
  /** A clause that says how it differs. */
  readonly what: string
  /** Names that answer from it, or some of them where there are many. */
  readonly names: readonly string[]
  readonly nameCount: number
}

export type LaterKind = 'health-check' | 'pool' | 'service' | 'overlay' | 'settings' | 'redirects'
