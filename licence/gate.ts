// The port by which routes ask what the licence permits.

/** Features that need a tier; without it the answer is 403. */
export const licensedFeatures = [
  'custom-roles',
  'extra-tenants',
  'filter-chains',
  'filter-scripts',
  'geo-rules',
  'redirects',
  'response-policy',
  'rollouts',
  'rum-routing',
  'signal-weight',
] as const
export type LicensedFeature = (typeof licensedFeatures)[number]

export interface MemberLimit {
  readonly membersMax: number
  /** Sentence of the 403. */
  readonly refusal: string
}

export interface LicenceGate {
  /** undefined: permitted. Otherwise the sentence of the 403. */
  readonly refusal: (feature: LicensedFeature) => string | undefined
  /** How many members each pool may have. undefined: there is no limit. */
  readonly memberLimit: () => MemberLimit | undefined
}

/** Permits everything: what a node has whose licence nobody checks. */
export const everythingLicensed: LicenceGate = Object.freeze({
  refusal: () => undefined,
  memberLimit: () => undefined,
})
