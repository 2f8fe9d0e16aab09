// Finds names that stay after a request, and could no longer answer all that they can answer now.
import { answerBits, denialBy, poolAnswers, serviceAnswers } from '#compiler/lower/answers.ts'
import type { Answers, PoolAnswers } from '#compiler/lower/answers.ts'
import { outlineName } from '#compiler/lower/name-outline.ts'
import { Presence, presenceBy } from '#compiler/lower/name-standing.ts'
import type { Draft } from '#config/draft.ts'
import type { ConfigEntry } from '#config/entry.ts'
import type { NameLedger } from './name-ledger.ts'

interface AnswerChange {
  readonly name: string
  /** Tenant of the service; '': a response rule, which concerns all. */
  readonly tenant: string
  readonly was: Answers
  readonly now: Answers
}

/** State before the request of the objects that it touches. */
export interface AnsweredBefore {
  /** Services and pools by kind and id. */
  readonly entries: ReadonlyMap<string, ConfigEntry>
  /** All response policies, when the request touches one. */
  readonly policies: readonly ConfigEntry<'ResponsePolicy'>[] | undefined
}

/** @param names as before the request */
export function* answerChanges(
  draft: Draft,
  before: AnsweredBefore,
  names: NameLedger,
): Generator<AnswerChange> {
  yield* byPools(draft, before)
  yield* byRules(draft, before, names)
}

/** Unless a pool gets weaker, only services that the request touches are examined. */
function* byPools(draft: Draft, { entries }: AnsweredBefore): Generator<AnswerChange> {
  const services = new Map<string, ConfigEntry<'Service'>>()
  const pools = new Map<string, PoolAnswers>()
  for (const entry of entries.values()) {
    if (isOf(entry, 'Service')) services.set(entry.uid, entry)
    if (isOf(entry, 'Pool')) pools.set(entry.name, poolAnswers(entry.object.spec))
  }
  for (const entry of entries.values()) {
    if (!isOf(entry, 'Pool') || !isWeaker(pools.get(entry.name), draft.get('Pool', entry.uid))) {
      continue
    }
    for (const one of draft.servicesOf(entry.name)) {
      if (!services.has(one.uid)) services.set(one.uid, one)
    }
  }
  const poolNow = poolsIn(draft)
  for (const [uid, was] of services) {
    const now = draft.get('Service', uid)
    const name = now && outlineName(now.object.spec.domain)
    // Removed names are counted by another limit.
    if (name === undefined || name !== outlineName(was.object.spec.domain)) continue
    const ofTenant = poolNow(was.tenant)
    const answersBefore = serviceAnswers(
      was.object.spec,
      (pool) => pools.get(pool) ?? ofTenant(pool),
    )
    const answersNow = serviceAnswers(now!.object.spec, ofTenant)
    if (answersBefore === answersNow) continue
    yield { name, tenant: now!.tenant, was: answersBefore, now: answersNow }
  }
}

function isWeaker(
  before: PoolAnswers | undefined,
  entry: ConfigEntry<'Pool'> | undefined,
): boolean {
  if (before === undefined || entry === undefined) return false
  const now = poolAnswers(entry.object.spec)
  const isLess = (before.all & ~now.all) | (before.weighted & ~now.weighted)
  return isLess !== 0 || (now.isBelow && !before.isBelow)
}

const bothFamilies = answerBits.serviceV4 | answerBits.serviceV6
const anyAnswers: PoolAnswers = { all: bothFamilies, weighted: bothFamilies, isBelow: false }

/** Looks up each pool once. */
function poolsIn(draft: Draft): (tenant: string) => (name: string) => PoolAnswers | undefined {
  const known = new Map<string, PoolAnswers | undefined>()
  return (tenant) => (name) => {
    if (!known.has(name)) {
      const entry = draft.holderOf('Pool', tenant, name) as ConfigEntry<'Pool'> | undefined
      // A pool that does not exist is refused by the compiler.
      known.set(name, entry === undefined ? anyAnswers : poolAnswers(entry.object.spec))
    }
    return known.get(name)
  }
}

/**
 * Examines all names once, when the request alters a response rule that may concern any of them.
 */
function* byRules(
  draft: Draft,
  { policies }: AnsweredBefore,
  names: NameLedger,
): Generator<AnswerChange> {
  if (policies === undefined) return
  const specOf = ({ object }: ConfigEntry<'ResponsePolicy'>) => object.spec
  const after = draft.entries('ResponsePolicy')
  const kept = new Set(policies.map(specOf)).intersection(new Set(after.map(specOf)))
  const altered = [...policies, ...after].map(specOf).filter((spec) => !kept.has(spec))
  const isNamed = denialBy(altered, () => true)
  if (isNamed === undefined) return
  const [wasDenied, isDenied] = [denialBy(policies.map(specOf)), denialBy(after.map(specOf))]
  for (const name of names.names()) {
    if (!isNamed(name) || isDenied?.(name) !== true || wasDenied?.(name) === true) continue
    if (presenceBy('all', names.standingOf(name)) !== Presence.Answers) continue
    yield { name, tenant: '', was: answerBits.record, now: answerBits.denied }
  }
}

function isOf<K extends 'Service' | 'Pool'>(entry: ConfigEntry, kind: K): entry is ConfigEntry<K> {
  return entry.kind === kind
}
