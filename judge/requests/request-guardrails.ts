// Checks a request against the guardrails: alone, and together with the requests shortly before it.
import type { ParentDs } from '#compiler/lower/name-outline.ts'
import type { ConfigEntry } from '#config/entry.ts'
import { keyOf } from '#config/draft.ts'
import type { Draft } from '#config/draft.ts'
import { failed } from '#config/fault.ts'
import type { Operation, WriteFailure, WriteRequest, WrittenObject } from '#config/operation.ts'
import { brokenChain } from '#judge/guard/chain-of-trust.ts'
import type { Change } from '#judge/guard/change.ts'
import { judge } from '#judge/guard/judge.ts'
import type { LimitName } from '#judge/guard/change-limits.ts'
import type { Breach } from '#judge/guard/judge.ts'
import { judgeLimits } from '#judge/limits.ts'
import type { NameLedger } from './name-ledger.ts'
import type { RecentChanges } from './recent-changes.ts'
import { RequestOutlines } from './request-outlines.ts'
import { isTouchable, touchedBetween } from './touched.ts'

/** Facts by which requests are judged: the existing names, and recent changes. */
export interface GuardMemory {
  /** Names before the request. */
  readonly names: NameLedger
  readonly recent: RecentChanges
  /** Read for a request that alters the zones; left out: nothing is known of parents. */
  readonly parentDs?: (() => ParentDs) | undefined
}

/** Objects that a request may alter, as they were before. */
interface Guarded {
  /** Services, pools and files of records, by kind and id. */
  readonly entries: ReadonlyMap<string, ConfigEntry>
  readonly settings: ConfigEntry<'Settings'> | undefined
  /** All response policies, when the request may alter one. */
  readonly policies: readonly ConfigEntry<'ResponsePolicy'>[] | undefined
}

/** Collects what the request may alter; fast for the usual request that touches few names. */
export function beforeRequest(draft: Draft, { operations }: WriteRequest): Guarded {
  const entries = new Map<string, ConfigEntry>()
  for (const operation of operations) {
    for (const entry of touchedBy(draft, operation)) entries.set(keyOf(entry), entry)
  }
  const [settings] = draft.entries('Settings')
  const altersRules = operations.some(({ kind }) => ruleKinds.includes(kind))
  const policies = altersRules ? draft.entries('ResponsePolicy') : undefined
  return { entries, settings, policies }
}

const ruleKinds: readonly Operation['kind'][] = ['ResponsePolicy', 'ResponseRule']

function touchedBy(draft: Draft, operation: Operation): readonly ConfigEntry[] {
  const { kind, verb } = operation
  const found: ConfigEntry[] = []
  const add = (entry: ConfigEntry | undefined): void => void (entry && found.push(entry))
  if (kind === 'RecordSet') {
    if (verb === 'create') add(draft.find('Records', operation.owner))
    else add(draft.part('RecordSet', operation.target)?.owner)
  } else if (verb !== 'create' && (kind === 'Service' || kind === 'Records')) {
    add(draft.find(kind, operation.target))
  } else if (kind === 'Member') {
    if (verb === 'create') add(draft.find('Pool', operation.owner))
    else add(draft.part('Member', operation.target)?.owner)
  } else if (kind === 'Pool' && verb !== 'create') {
    const pool = draft.find('Pool', operation.target)
    add(pool)
    // Services keep existing when their pool is removed or renamed, so they are touched as well.
    const namesIt = verb === 'delete' || verb === 'rename'
    if (namesIt) for (const entry of draft.servicesOf(pool?.name ?? '')) add(entry)
  }
  return found
}

/**
 * Records what the request alters, unless that exceeds a limit. Deleting one service is meant, even
 * the last; removing several needs an override.
 */
export function guardFailure(
  draft: Draft,
  { override }: WriteRequest,
  guarded: Guarded,
  written: readonly (WrittenObject | null)[],
  { names, recent, parentDs }: GuardMemory,
): WriteFailure | undefined {
  const before = [...guarded.entries.values()]
  const touched = touchedBetween(before, entriesNow(draft, before, written), names)
  if (override === undefined) {
    const { guardrails } = guarded.settings?.object.spec ?? {}
    const outlines = new RequestOutlines({ draft, guarded, touched, names, recent })
    const change = outlines.alone()
    const alone = judge(change, guardrails, 'alone')
    if (alone !== undefined) return failureOf(alone, true)
    const broken = chainFailure(change, parentDs)
    if (broken !== undefined) return broken
    const together = judge(outlines.together(), guardrails, 'together')
    if (together !== undefined) return failureOf(together, false)
    recent.record(touched)
  } else recent.forget()
  names.apply(touched)
  return undefined
}

/** Other nodes do not judge commits of the API: a broken chain of trust must not become one. */
function chainFailure(
  { before, after }: Change,
  parentDs: GuardMemory['parentDs'],
): WriteFailure | undefined {
  if (before.zones.size === 0 || parentDs === undefined) return undefined
  const words = brokenChain({ zones: before.zones, parentDs: parentDs() }, after)
  if (words === undefined) return undefined
  return failed('guarded', `This would ${words.replace(/^signs/, 'sign')}. ${ifMeant}`)
}

const ifMeant =
  'If that is meant, send it again with the header X-Gslb-Override: REASON; the reason is kept ' +
  'in the commit.'

function failureOf(breach: Breach<LimitName>, isAlone: boolean): WriteFailure {
  const { limit, max, tenant, owner } = breach
  const minutes = judgeLimits.removalWindowMs / 60_000
  // Turns "removes …" into the words after "This would".
  const words = breach.words.replace(/^(\w+)s /, '$1 ')
  if (limit === 'removedNames' && tenant === null) {
    const since = isAlone ? '' : ` within ${minutes} minutes, together with earlier requests`
    const what = `This would ${words}${since}, more than guardrails.removedNames permits.`
    return failed('guarded', `${what} ${ifMeant}`)
  }
  const whose =
    tenant === null ? `guardrails.${limit}` : `guardrails.tenants, ${limit} of tenant "${tenant}"`
  const together = isAlone ? '' : `; all requests of ${minutes} minutes together`
  const most = limit === 'removedNames' ? `, more than ${max} %` : ''
  const what = `This would ${words}${most} (${whose}${together}).`
  const own = owner === null ? {} : { own: { tenant: owner, message: what } }
  return { ...failed('guarded', `${what} ${ifMeant}`), guardrail: limit, ...own }
}

/** The objects that the request left, of what it touched or made. */
function entriesNow(
  draft: Draft,
  before: readonly ConfigEntry[],
  written: readonly (WrittenObject | null)[],
): readonly ConfigEntry[] {
  const now = new Map<string, ConfigEntry>()
  for (const one of [...before, ...written.map((each) => each?.entry)]) {
    if (one === undefined || !isTouchable(one.kind)) continue
    const entry = draft.get(one.kind, one.uid)
    if (entry !== undefined) now.set(keyOf(one), entry)
  }
  return [...now.values()]
}
