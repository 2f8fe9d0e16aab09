// Computes the licence state of an installation from its token, its trial, the licence server's
// answers and the time.
import type { KeyObject } from 'node:crypto'
import { Type } from '#lib/schema/type.ts'
import type { Shown } from '#lib/schema/type.ts'
import type { Trial } from '#state/ports/licences.ts'
import { tierRate } from './tiers.ts'
import type { LicenceRates, Tier } from './tiers.ts'
import { readToken } from './token.ts'
import type { LicencePayload } from './token.ts'

const licenceStatuses = [
  'unlicensed',
  'valid',
  'trial',
  'node-locked',
  'invalid',
  'rejected',
  'expired',
  'revoked',
] as const

/** Sources of tokens, in order: the first that has one counts. */
const licenceSources = ['environment', 'api', 'file'] as const
type LicenceSource = (typeof licenceSources)[number]

export interface SourcedToken {
  readonly text: string
  readonly source: LicenceSource
}

export interface LicenceFacts {
  readonly token: SourcedToken | null
  /** null: there is no vendor key, so nothing is enforced. */
  readonly vendorKey: KeyObject | null
  readonly trial: Trial | null
  /** null: not read yet, since the database is away. */
  readonly installId: string | null
  /** True: the licence server has revoked this token. */
  readonly isRevoked: boolean
  /** Running nodes, including this one. */
  readonly nodes: number
  readonly rates: LicenceRates
  readonly nowMs: number
}

export const License = Type.Object(
  {
    valid: Type.Boolean(),
    tier: Type.Unsafe<Tier>({ type: 'string' }),
    maxRps: Type.Integer({ description: 'DNS queries per second' }),
    expiresAt: Type.Integer({ description: 'Unix seconds; 0: never, or there is no licence' }),
    licenseId: Type.String(),
    customerId: Type.String(),
    installId: Type.String({ description: 'What a token for this installation alone names' }),
    nodes: Type.Integer({ description: 'Nodes that run, this one and those that it hears of' }),
    status: Type.Enum([...licenceStatuses]),
    source: Type.Unsafe<LicenceSource | null>({
      type: ['string', 'null'],
      description: `${licenceSources.join(', ')}; null: there is no token`,
    }),
    enforced: Type.Boolean({
      description: 'false: no vendor key is set, so that no limit applies',
    }),
    /** The cause and what to do, in a sentence. */
    reason: Type.String(),
  },
  { title: 'License' },
)
export type LicenceState = Shown<typeof License>

export function licenceState(facts: LicenceFacts): LicenceState {
  const judged = facts.token === null ? judgeTrial(facts) : judgeToken(facts, facts.token)
  const { payload = null } = judged
  const own = payload !== null && judged.status === 'valid' ? payload.maxRps : 0
  // While the install id is unknown, a licence that the unreachable database might contain must not
  // limit answers.
  const isSettled = facts.installId !== null || facts.token?.source === 'environment'
  return {
    status: judged.status,
    valid: judged.status === 'valid' || judged.status === 'trial',
    tier: judged.tier,
    maxRps: own > 0 ? own : tierRate(judged.tier, facts.rates),
    expiresAt: judged.expiresAt ?? payload?.exp ?? 0,
    licenseId: payload?.id ?? '',
    customerId: payload?.cid ?? '',
    installId: facts.installId ?? '',
    nodes: facts.nodes,
    source: facts.token?.source ?? null,
    enforced: facts.vendorKey !== null && isSettled,
    reason: judged.reason,
  }
}

interface Judgement {
  readonly status: LicenceState['status']
  readonly tier: Tier
  readonly reason: string
  readonly payload?: LicencePayload
  readonly expiresAt?: number
}

function judgeTrial({ trial, nowMs }: LicenceFacts): Judgement {
  if (trial === null) {
    return { status: 'unlicensed', tier: 'unlicensed', reason: 'there is no licence' }
  }
  const expiresAt = Math.floor(trial.expiresAtMs / 1_000)
  const isOver = nowMs >= trial.expiresAtMs
  return isOver
    ? {
        status: 'expired',
        tier: 'expired',
        expiresAt,
        reason: `the trial ended on ${day(expiresAt)}`,
      }
    : { status: 'trial', tier: 'trial', expiresAt, reason: `a trial until ${day(expiresAt)}` }
}

function judgeToken(facts: LicenceFacts, { text }: SourcedToken): Judgement {
  const { vendorKey, installId, nowMs } = facts
  if (vendorKey === null) {
    const reason = 'the token cannot be checked: no vendor key is set (license.publicKey)'
    return { status: 'invalid', tier: 'unlicensed', reason }
  }
  const read = readToken(text, vendorKey)
  if (!read.ok) {
    const status = read.error.code === 'rejected' ? 'rejected' : 'invalid'
    return { status, tier: 'unlicensed', reason: `the token does not count: ${read.error.message}` }
  }
  const payload = read.value
  // Until the install id is known, the token is assumed to be valid.
  if (payload.iid !== undefined && installId !== null && payload.iid !== installId) {
    const reason = `the token is for the installation ${payload.iid}, and this is ${installId}`
    return { status: 'node-locked', tier: 'unlicensed', payload, reason }
  }
  // Before its end: a revoked licence must not get a higher rate by it.
  if (facts.isRevoked) {
    const reason = 'the licence server says that the licence is revoked'
    return { status: 'revoked', tier: 'unlicensed', payload, reason }
  }
  if (payload.exp !== 0 && nowMs >= payload.exp * 1_000) {
    const reason = `the licence expired on ${day(payload.exp)}`
    return { status: 'expired', tier: 'expired', payload, reason }
  }
  return { status: 'valid', tier: payload.tier, payload, reason: 'the licence is valid' }
}

/** A number of seconds that a Date cannot hold must not throw. */
function day(seconds: number): string {
  const date = new Date(seconds * 1_000)
  return Number.isNaN(date.getTime()) ? 'a day far away' : date.toISOString().slice(0, 10)
}
