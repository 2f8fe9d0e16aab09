// Defines the port by which routes ask what the licence permits.

/** Features that need a tier; without it the response is 403. */
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
  /** undefined: permitted; else the sentence of the 403. */
  readonly refusal: (feature: LicensedFeature) => string | undefined
  /** Members that a pool may have. undefined: there is no limit. */
  readonly memberLimit: () => MemberLimit | undefined
}
