// Checks what a request removes against the guardrail: by itself, and with those shortly before it.
import { outlineName } from '#compiler/plan/name-outline.ts'
import { removedNamesDefault } from '#schemas/objects/guardrails.ts'
import type { ConfigEntry } from '#config/entry.ts'
import { areTooMany, wordsOf } from '#gitops/guard/removal.ts'
import { gitLimits } from '#gitops/limits.ts'
import type { Draft } from '#config/draft.ts'
import type { WriteFailure, WriteRequest, WrittenObject } from '#config/operation.ts'
import { lossOf, nameChanges } from './recent-names.ts'
import type { NameChanges, RecentNames } from './recent-names.ts'

type Service = ConfigEntry<'Service'>
type Settings = ConfigEntry<'Settings'>

/** What a request may take away, as it was before. */
export interface Guarded {
  /** By id. */
  readonly services: ReadonlyMap<string, Service>
  readonly settings: Settings | undefined
}

/** Cheap for a request that touches few services, as nearly all do. */
export function beforeRequest(draft: Draft, { operations }: WriteRequest): Guarded {
  const services = new Map<string, Service>()
  for (const operation of operations) {
    const { kind, verb } = operation
    if (kind === 'Service' && verb !== 'create') {
      const entry = draft.find('Service', operation.target)
      if (entry !== undefined) services.set(entry.uid, entry)
    } else if (kind === 'Pool' && verb === 'delete') {
      const pool = draft.find('Pool', operation.target)
      // Its services stay, without a pool.
      for (const entry of draft.servicesOf(pool?.name ?? '')) services.set(entry.uid, entry)
    }
  }
  const [settings] = draft.entries('Settings')
  return { services, settings }
}

/**
 * Takes note of what the request has removed, unless that is too much. A deletion of one service
 * is meant, be it the last one; what removes several has to say so.
 */
export function guardFailure(
  draft: Draft,
  { override }: WriteRequest,
  { services, settings }: Guarded,
  written: readonly (WrittenObject | null)[],
  recent: RecentNames,
): WriteFailure | undefined {
  const changes = changesOf(draft, services, written)
  if (override !== undefined) {
    recent.forget()
    return undefined
  }
  const removed = tooMuch(draft, changes, settings, recent)
  if (removed === undefined) {
    recent.record(changes)
    return undefined
  }
  const message =
    `This would remove ${removed}. If that is meant, send it again with the header ` +
    'X-Gslb-Override: REASON; the reason is kept in the commit.'
  return { code: 'guarded', message, operation: -1, diagnostics: [] }
}

function changesOf(
  draft: Draft,
  before: ReadonlyMap<string, Service>,
  written: readonly (WrittenObject | null)[],
): NameChanges {
  const created = written.flatMap((one): Service[] =>
    one?.entry.kind === 'Service' && !before.has(one.entry.uid) ? [one.entry as Service] : [],
  )
  const uids = [...before.keys(), ...created.map(({ uid }) => uid)]
  return nameChanges(uids.map((uid) => [before.get(uid), draft.get('Service', uid)]))
}

/** @returns words for it; undefined: so much may go */
function tooMuch(
  draft: Draft,
  changes: NameChanges,
  settings: Settings | undefined,
  recent: RecentNames,
): string | undefined {
  const zones = zonesWithServices(draft, settings)
  const { names, surplus } = lossOf(changes)
  if (zones.length === 0 && names.length === 0) return undefined
  const percentMax = settings?.object.spec.guardrails?.removedNames ?? removedNamesDefault
  const left = draft.entries('Service').length
  const total = left + surplus
  if (zones.length > 0 || areTooMany(names.length, total, percentMax)) {
    return wordsOf({ names, total, zones })
  }
  const whole = recent.lossWith(changes)
  const totalThen = left + whole.surplus
  if (!areTooMany(whole.names.length, totalThen, percentMax)) return undefined
  const minutes = gitLimits.removalWindowMs / 60_000
  const words = wordsOf({ names: whole.names, total: totalThen, zones: [] })
  return `${words} within ${minutes} minutes, together with earlier requests`
}

/** Those that the request takes out of the settings. */
function zonesWithServices(draft: Draft, before: Settings | undefined): string[] {
  const [after] = draft.entries('Settings')
  if (before === undefined || after?.object === before.object) return []
  const declared = new Set(after?.object.spec.zones.map(({ name }) => outlineName(name)))
  const gone = before.object.spec.zones.map(({ name }) => outlineName(name) ?? '')
  const names = draft.entries('Service').map(({ object }) => outlineName(object.spec.domain) ?? '')
  return gone.filter(
    (zone) => !declared.has(zone) && names.some((name) => `.${name}`.endsWith(`.${zone}`)),
  )
}
