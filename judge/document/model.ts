// What a plan says: which clients get another answer, and from where to where they move.

export interface Plan {
  /** Version of this form: it changes when a field goes or means something else. */
  readonly format: 1
  readonly base: PlannedSide
  readonly head: PlannedSide
  readonly weights: ClientWeights
  readonly summary: PlanSummary
  /** One for each instant, under each health. */
  readonly scenarios: readonly PlannedScenario[]
  /** What no answer shows now, or not all of, and what may show in answers later. */
  readonly later: readonly LaterChange[]
  /** Sentences: what the plan could not know. */
  readonly warnings: readonly string[]
}

/** How clients are weighted. */
export interface ClientWeights {
  readonly by: 'addresses' | 'traffic'
  /** Where the counts are from; '': addresses. */
  readonly source: string
  /** How long was counted; null: not told. */
  readonly seconds: number | null
  /** Queries, or reports of browsers, that the counts were computed of; null: all were counted. */
  readonly sampled: number | null
}

export interface PlannedSide {
  /** As it was asked for: a file, a directory, a ref. */
  readonly source: string
  /** Hex; '': not a commit. */
  readonly commit: string
  readonly digest: string
}

export interface PlanSummary {
  /** Names and answers (a name and a type) that differ, over all scenarios. */
  readonly names: number
  readonly answers: number
  readonly addedNames: number
  readonly removedNames: number
  /** Answers that are there before and not after. */
  readonly removedAnswers: number
  readonly comparedNames: number
  /**
   * The largest share of clients that is sent elsewhere where there is an answer before and after;
   * clients that had no address before do not count. 0 to 1.
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

/** What each member gets from all answers that differ; of others it gets what it got. */
export interface ExpectedTraffic {
  /** `share`: parts of all of it, 0 to 1, where each answer has as much as any other. */
  readonly unit: TrafficUnit
  /** What changes most is first. */
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
  /** Whose service it is; '': of a zone's records. */
  readonly tenant: string
  readonly before: PlannedAnswer
  readonly after: PlannedAnswer
  /** null: the answer does not depend on who asks, and sends nobody anywhere. */
  readonly movement: Movement | null
}

export interface PlannedAnswer {
  readonly rcode: string
  readonly ttlSeconds: number | null
  /** How a service chooses; '': none answers. */
  readonly policy: string
  /** Empty where a service answers. */
  readonly records: readonly string[]
  /** Records of a delegation, and addresses beside the answer. */
  readonly others: readonly string[]
}

export interface Movement {
  readonly ipv4: FamilyMovement
  readonly ipv6: FamilyMovement
}

/** Shares are parts of all clients of the family, 0 to 1. */
export interface FamilyMovement {
  /** Goes elsewhere: by the first address of an answer. */
  readonly moved: number
  /** Gets another answer: another order, TTL or probability counts, too. */
  readonly differs: number
  /** In 19 of 20 plans `moved` errs by no more; errors of counted traffic are not included. */
  readonly error: number
  /** Largest first. Where members would make thousands of them: from pool to pool. */
  readonly flows: readonly Flow[]
  /**
   * Where clients are sent, before and after. Where a sticky step spreads clients of whom none
   * moves, or all do, they count as it is meant to spread them, which `error` does not tell; so do
   * `flows`.
   */
  readonly members: readonly MemberTraffic[]
  /** Largest first; null: no database. */
  readonly countries: readonly PlaceMovement[] | null
  /** Further ones, of which fewer clients move; beyond the first movements all of them. */
  readonly countriesOmitted: number
  readonly operators: readonly PlaceMovement[] | null
  readonly operatorsOmitted: number
}

export interface Endpoint {
  /**
   * Address or host name; of no member, records or such as `NXDOMAIN`. '': of a flow, all members
   * of the pool.
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
  /** Such as `DE` or `AS64500 Example`; '': in no database. */
  readonly place: string
  /** Part of all clients that are there and move. */
  readonly moved: number
  /** Part of the clients of the place that move. */
  readonly movedOfPlace: number
}

export interface LaterChange {
  readonly kind: LaterKind
  /** Such as `pool web`. */
  readonly subject: string
  readonly tenant: string
  /** A clause: what differs. */
  readonly what: string
  /** Names that answer from it; some of them, where there are many. */
  readonly names: readonly string[]
  readonly nameCount: number
}

export type LaterKind = 'health-check' | 'pool' | 'service' | 'overlay' | 'settings' | 'redirects'
