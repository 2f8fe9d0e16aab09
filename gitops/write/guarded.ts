// Checks what one request removes against the guardrail, apart from the others of its commit.
import { outlineName } from '#compiler/plan/name-outline.ts'
import { removedNamesDefault } from '#schemas/objects/guardrails.ts'
import type { ConfigEntry } from '#config/entry.ts'
import { areTooMany, wordsOf } from '#gitops/guard/removal.ts'
import type { Draft } from '#config/draft.ts'
import type { WriteFailure, WriteRequest } from '#config/operation.ts'

type Services = ReadonlyMap<string, ConfigEntry<'Service'>>

/** What a request may take away, as it was before. */
export interface Guarded {
  /** By id. */
  readonly services: Services
  readonly total: number
  readonly settings: ConfigEntry<'Settings'> | undefined
}

/** Cheap for a request that touches one service, as nearly all do. */
export function beforeRequest(draft: Draft, { operations }: WriteRequest): Guarded | undefined {
  const services = new Map<string, ConfigEntry<'Service'>>()
  let touchesSettings = false
  for (const operation of operations) {
    const { kind, verb } = operation
    touchesSettings ||= kind === 'Settings'
    if (kind !== 'Service' || verb === 'create') continue
    const entry = draft.find('Service', operation.target)
    if (entry !== undefined) services.set(entry.uid, entry)
  }
  if (services.size < 2 && !touchesSettings) return undefined
  const [settings] = draft.entries('Settings')
  return { services, total: draft.entries('Service').length, settings }
}

/** A deletion of one service is meant, be it the last one; what removes several has to say so. */
export function guardFailure(
  draft: Draft,
  { override }: WriteRequest,
  { services, total, settings }: Guarded,
): WriteFailure | undefined {
  if (override !== undefined) return undefined
  const left = new Set(
    Array.from(services.keys(), (uid) => nameOf(draft.get('Service', uid))).filter(Boolean),
  )
  const names = Array.from(services.values(), nameOf).filter((name) => !left.has(name))
  const percentMax = settings?.object.spec.guardrails?.removedNames ?? removedNamesDefault
  const zones = zonesWithServices(draft, settings)
  if (zones.length === 0 && !areTooMany(names.length, total, percentMax)) return undefined
  const removed = wordsOf({ names, total, zones, percentMax })
  const message =
    `This would remove ${removed}. If that is meant, send it again with the header ` +
    'X-Gslb-Override: REASON; the reason is kept in the commit.'
  return { code: 'guarded', message, operation: -1, diagnostics: [] }
}

function nameOf(entry: ConfigEntry<'Service'> | undefined): string {
  return entry === undefined ? '' : (outlineName(entry.object.spec.domain) ?? '')
}

/** Those that the request takes out of the settings. */
function zonesWithServices(draft: Draft, before: ConfigEntry<'Settings'> | undefined): string[] {
  const [after] = draft.entries('Settings')
  if (before === undefined || after?.object === before.object) return []
  const declared = new Set(after?.object.spec.zones.map(({ name }) => outlineName(name)))
  const gone = before.object.spec.zones.map(({ name }) => outlineName(name) ?? '')
  const names = draft.entries('Service').map(nameOf)
  return gone.filter(
    (zone) => !declared.has(zone) && names.some((name) => `.${name}`.endsWith(`.${zone}`)),
  )
}
