// Checks what a request alters against the guardrails: by itself, and with those shortly before it.
import { outlineName } from '#compiler/lower/name-outline.ts'
import { perMeasure } from '#compiler/lower/name-standing.ts'
import type { PerMeasure } from '#compiler/lower/name-standing.ts'
import { enclosingZone } from '#compiler/lower/zone-plan.ts'
import { removedNamesDefault } from '#schemas/objects/guardrails.ts'
import type { ConfigEntry } from '#config/entry.ts'
import { removalOf, tooMany, wordsOf } from '#judge/guard/removal.ts'
import type { Tally } from '#judge/guard/removal.ts'
import { judgeLimits } from '#judge/limits.ts'
import type { Draft } from '#config/draft.ts'
import type { Operation, WriteFailure, WriteRequest, WrittenObject } from '#config/operation.ts'
import { answerChanges, zoneChanges } from './lost-answers.ts'
import { changeBreach } from './request-breach.ts'
import type { ChangeBreach } from './request-breach.ts'
import type { NameChanges, NameLedger } from './name-ledger.ts'
import type { RecentChanges } from './recent-changes.ts'
import { lossOf } from './recent-names.ts'
import type { Loss, RecentNames } from './recent-names.ts'
import { isTouchable, touchedBetween } from './touched.ts'

type Settings = ConfigEntry<'Settings'>

/** What requests are judged by: what there is, and what came and went lately. */
export interface GuardMemory {
  /** As before the request. */
  readonly names: NameLedger
  readonly recent: RecentNames
  readonly recentChanges: RecentChanges
}

/** What a request may alter, as it was before. */
export interface Guarded {
  /** Services, pools and files of records, by kind and id. */
  readonly entries: ReadonlyMap<string, ConfigEntry>
  readonly settings: Settings | undefined
  /** All response policies, where it may alter one. */
  readonly policies: readonly ConfigEntry<'ResponsePolicy'>[] | undefined
}

/** Cheap for a request that touches few names, as nearly all do. */
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
    // Its services stay, without a pool; or they name it anew.
    const namesIt = verb === 'delete' || verb === 'rename'
    if (namesIt) for (const entry of draft.servicesOf(pool?.name ?? '')) add(entry)
  }
  return found
}

/**
 * Takes note of what the request has removed, unless that is too much. A deletion of one service
 * is meant, be it the last one; what removes several has to say so.
 */
export function guardFailure(
  draft: Draft,
  { override }: WriteRequest,
  guarded: Guarded,
  written: readonly (WrittenObject | null)[],
  memory: GuardMemory,
): WriteFailure | undefined {
  const { names, recent, recentChanges } = memory
  const before = [...guarded.entries.values()]
  const now = entriesNow(draft, before, written)
  const changes = names.changes(before, now)
  const touched = touchedBetween(before, now)
  if (override === undefined) {
    const removed = tooMuch(draft, changes, guarded.settings, memory)
    if (removed !== undefined) return removalFailure(removed)
    const { guardrails } = guarded.settings?.object.spec ?? {}
    const answers = answerChanges(draft, guarded, memory)
    const zones = zoneChanges(draft, guarded)
    const judged = { draft, guardrails, changes, touched, answers, zones, ...memory }
    const breach = changeBreach(judged)
    if (breach !== undefined) return changeFailure(breach)
    recent.record(changes)
    recentChanges.record(touched)
  } else {
    recent.forget()
    recentChanges.forget()
  }
  names.apply(changes)
  return undefined
}

const ifMeant =
  'If that is meant, send it again with the header X-Gslb-Override: REASON; the reason is kept ' +
  'in the commit.'

function removalFailure(removed: string): WriteFailure {
  const message =
    `This would remove ${removed}, more than guardrails.removedNames permits. ` + ifMeant
  return { code: 'guarded', message, operation: -1, diagnostics: [] }
}

function changeFailure({ guardrail, words, tenant, owner }: ChangeBreach): WriteFailure {
  const minutes = judgeLimits.removalWindowMs / 60_000
  const limit =
    tenant === ''
      ? `guardrails.${guardrail}`
      : `guardrails.tenants, ${guardrail} of tenant "${tenant}"`
  const isAlone = guardrail === 'lostAnswers' || guardrail === 'replacedServers'
  const together = isAlone ? '' : `; all requests of ${minutes} minutes together`
  const what = `This would ${words} (${limit}${together}).`
  return {
    ...{ code: 'guarded', guardrail, message: `${what} ${ifMeant}` },
    ...(owner === null ? {} : { own: { tenant: owner, message: what } }),
    ...{ operation: -1, diagnostics: [] },
  }
}

/** What a request has left of what it touches, and what it has made. */
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

function keyOf({ kind, uid }: ConfigEntry): string {
  return `${kind} ${uid}`
}

/** @returns words for it; undefined: so much may go */
function tooMuch(
  draft: Draft,
  changes: NameChanges,
  settings: Settings | undefined,
  { names, recent }: GuardMemory,
): string | undefined {
  const zones = zonesWithNames(draft, settings, names)
  const loss = lossOf(changes)
  if (zones.length === 0 && loss.all.names.length === 0 && loss.balanced.names.length === 0) {
    return undefined
  }
  const percentMax = settings?.object.spec.guardrails?.removedNames ?? removedNamesDefault
  const tallies = perMeasure((measure): Tally => {
    return { names: loss[measure].names, total: names.counts[measure] }
  })
  const measure = tooMany(tallies, percentMax)
  if (zones.length > 0 || measure !== undefined) {
    return wordsOf(removalOf(tallies, measure ?? 'all', zones))
  }
  const whole = wholeTallies(recent.lossWith(changes), loss, names)
  const measureThen = tooMany(whole, percentMax)
  if (measureThen === undefined) return undefined
  const minutes = judgeLimits.removalWindowMs / 60_000
  const words = wordsOf(removalOf(whole, measureThen, []))
  return `${words} within ${minutes} minutes, together with earlier requests`
}

/** Compared with what there was before the first of the recent requests. */
function wholeTallies(
  whole: PerMeasure<Loss>,
  own: PerMeasure<Loss>,
  names: NameLedger,
): PerMeasure<Tally> {
  return perMeasure((measure) => {
    const left = names.counts[measure] - own[measure].surplus
    return { names: whole[measure].names, total: left + whole[measure].surplus }
  })
}

/** Zones that have names, and that the request takes out of the settings. */
function zonesWithNames(draft: Draft, before: Settings | undefined, names: NameLedger): string[] {
  const [after] = draft.entries('Settings')
  if (before === undefined || after?.object === before.object) return []
  const declared = new Set(after?.object.spec.zones.map(({ name }) => outlineName(name)))
  const zones = before.object.spec.zones.map(({ name }) => outlineName(name) ?? '')
  const gone = new Set(zones.filter((zone) => !declared.has(zone)))
  if (gone.size === 0) return []
  const indexOf = new Map(zones.map((zone, i) => [zone, i]))
  const lost = new Set<string>()
  for (const name of names.names()) {
    const zone = zones[enclosingZone(name, indexOf) ?? -1]
    if (zone !== undefined && gone.has(zone)) lost.add(zone)
    if (lost.size === gone.size) break
  }
  return [...gone].filter((zone) => lost.has(zone))
}
