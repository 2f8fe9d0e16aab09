// Lists the licence tiers: limits and features of each.
import type { LicensedFeature } from './gate.ts'

/** Tiers that a token can name. */
export const tokenTiers = ['free', 'paid', 'pro', 'enterprise', 'custom'] as const
export type TokenTier = (typeof tokenTiers)[number]
/** Tiers of tokens, and of installations without a valid one. */
export type Tier = TokenTier | 'unlicensed' | 'trial' | 'expired'

interface TierLimits {
  readonly membersPerPool: number
  readonly tenants: number
  readonly nodes: number
  /** Nodes that only probe. */
  readonly agents: number
}

interface TierSpec extends TierLimits {
  /** A level has the features of all below: 0 free, 1 paid, 2 pro, 3 enterprise. */
  readonly level: 0 | 1 | 2 | 3
}

const free: TierSpec = { level: 0, membersPerPool: 3, tenants: 1, nodes: 1, agents: 0 }
const enterprise: TierSpec = {
  level: 3,
  membersPerPool: Infinity,
  tenants: Infinity,
  nodes: Infinity,
  agents: Infinity,
}

export const tiers: Readonly<Record<Tier, TierSpec>> = Object.freeze({
  unlicensed: free,
  expired: free,
  free,
  paid: { level: 1, membersPerPool: 10, tenants: 1, nodes: 1, agents: 0 },
  pro: { level: 2, membersPerPool: 50, tenants: 1, nodes: 3, agents: 10 },
  trial: enterprise,
  enterprise,
  custom: enterprise,
})

/** Names of levels for sentences. */
const levelNames = ['free', 'paid', 'pro', 'enterprise'] as const

/** Queries a second that the operator sets; keys as under `license` in the file. */
export interface LicenceRates {
  readonly defaultFreeRPS: number
  readonly defaultUnlicensedRPS: number
  /** 0: that of an installation without a licence. */
  readonly expiredFallbackRPS: number
}

export function tierRate(tier: Tier, rates: LicenceRates): number {
  switch (tier) {
    case 'unlicensed':
      return rates.defaultUnlicensedRPS
    case 'expired':
      return rates.expiredFallbackRPS > 0 ? rates.expiredFallbackRPS : rates.defaultUnlicensedRPS
    case 'free':
      return rates.defaultFreeRPS
    case 'trial':
    case 'paid':
      return 500
    case 'pro':
      return 2_000
    case 'enterprise':
    case 'custom':
      return 1_000_000
  }
}

interface FeatureSpec {
  readonly level: TierSpec['level']
  /** First word of a sentence. */
  readonly title: string
}

const features: Readonly<Record<LicensedFeature, FeatureSpec>> = Object.freeze({
  'filter-chains': { level: 1, title: 'filter chains need' },
  redirects: { level: 1, title: 'redirects need' },
  'geo-rules': { level: 2, title: 'geo rules need' },
  rollouts: { level: 2, title: 'rollouts need' },
  'rum-routing': { level: 2, title: 'routing by measurements of users (rum) needs' },
  'response-policy': { level: 2, title: 'response policy rules need' },
  'signal-weight': { level: 2, title: 'routing by signal weight needs' },
  'filter-scripts': { level: 3, title: 'script steps of filter chains need' },
  'custom-roles': { level: 3, title: 'custom roles need' },
  'extra-tenants': { level: 3, title: 'tenants besides the default one need' },
})

/** undefined: the tier has the feature; else what is needed, without a full stop. */
export function lackOf(tier: Tier, feature: LicensedFeature): string | undefined {
  const { level, title } = features[feature]
  if (tiers[tier].level >= level) return undefined
  const orAbove = level === 3 ? '' : ' or above'
  return `${title} the ${levelNames[level]} licence tier${orAbove}; this installation's is ${tier}`
}

/** undefined: the tier permits `count` nodes. */
export function tooManyNodes(tier: Tier, count: number): string | undefined {
  const { nodes } = tiers[tier]
  if (count <= nodes) return undefined
  const permitted = nodes === 1 ? 'one' : String(nodes)
  return `${count} nodes are running, and the licence tier ${tier} permits ${permitted}`
}

/** undefined: the tier permits `count` probe agents. */
export function tooManyAgents(tier: Tier, count: number): string | undefined {
  const { agents } = tiers[tier]
  if (count <= agents) return undefined
  const [are, permitted] = [count === 1 ? 'agent is' : 'agents are', agents === 0 ? 'none' : agents]
  return `${count} probe ${are} running, and the licence tier ${tier} permits ${permitted}`
}

/** undefined: the tier permits `count` members in a pool. */
export function tooManyMembers(tier: Tier, count: number): string | undefined {
  const { membersPerPool } = tiers[tier]
  if (count <= membersPerPool) return undefined
  return `a pool may have ${membersPerPool} members under the licence tier ${tier}`
}
