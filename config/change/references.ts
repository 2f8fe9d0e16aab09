// Finds references to a pool or member, and updates them when it is renamed, moved or deleted.
import { MemberNames, splitResource } from '#compiler/values/member-names.ts'
import { endpointKey, targetOf, targetText } from '#compiler/values/member-target.ts'
import { fallbackPoolOf } from '#compiler/tree/fallback.ts'
import type { JsonObject, JsonValue } from '#compiler/yaml/text.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { ConfigEntry } from '#config/entry.ts'
import { partsIn } from '#config/entry.ts'
import type { PartOf } from '#config/parts.ts'
import type { Draft } from '#config/draft.ts'
import type { Fault } from '#config/fault.ts'

type Pool = ConfigEntry<'Pool'>
type MemberPart = PartOf['Member'] & { readonly uid: string }
type Outcome = Result<null, Fault>

const done: Outcome = ok(null)

/** Sets fields of an object's spec; null removes a field. */
function setSpec(draft: Draft, entry: ConfigEntry, fields: JsonObject): Outcome {
  const raw = draft.raw(entry)
  const spec: Record<string, JsonValue> = { ...raw.spec }
  for (const [key, value] of Object.entries(fields)) {
    if (value === null) delete spec[key]
    else spec[key] = value
  }
  const changed = draft.change(entry, { ...raw, spec })
  return changed.ok ? done : changed
}

/** @param entries an array that `act` does not change, so that no changed entry is met again */
function forEach<E>(entries: readonly E[], act: (entry: E) => Outcome): Outcome {
  for (const entry of entries) {
    const outcome = act(entry)
    if (!outcome.ok) return outcome
  }
  return done
}

/** Other objects are never referred to. */
const isPool = (entry: ConfigEntry): entry is Pool => entry.kind === 'Pool'

/** @param entry the object before the rename; the draft has its new name already */
export function followName(draft: Draft, entry: ConfigEntry, name: string): Outcome {
  return isPool(entry) ? followPoolName(draft, entry, name) : done
}

/** Updates references before an object is deleted. */
export function leaveObject(draft: Draft, entry: ConfigEntry): Outcome {
  return isPool(entry) ? leavePool(draft, entry) : done
}

function followPoolName(draft: Draft, pool: Pool, name: string): Outcome {
  const services = forEach(ofTenant(draft.servicesOf(pool.name), pool), (entry) => {
    const { spec } = entry.object
    const fields: Record<string, JsonValue> = {}
    if (spec.pool === pool.name) fields['pool'] = name
    if (fallbackPoolOf(spec) === pool.name) fields['onAllDown'] = `pool:${name}`
    return setSpec(draft, entry, fields)
  })
  if (!services.ok) return services
  const rollouts = forEach(ofTenant(draft.entries('Rollout'), pool), (entry) =>
    entry.object.spec.pool === pool.name ? setSpec(draft, entry, { pool: name }) : done,
  )
  if (!rollouts.ok) return rollouts
  return forEach(ofTenant(draft.entries('MaintenanceWindow'), pool), (entry) => {
    const { resourceType, resource } = entry.object.spec
    if (resourceType === 'pool') {
      return resource === pool.name ? setSpec(draft, entry, { resource: name }) : done
    }
    const [poolText, member] = splitResource(resource)
    if (poolText !== pool.name || member === undefined) return done
    // A name with a slash cannot be told from a pool and its member.
    return setSpec(draft, entry, { resource: `${name.includes('/') ? pool.uid : name}/${member}` })
  })
}

function leavePool(draft: Draft, pool: Pool): Outcome {
  const services = forEach(ofTenant(draft.servicesOf(pool.name), pool), (entry) => {
    const { spec } = entry.object
    const isOwn = spec.pool === pool.name
    const isFallback = fallbackPoolOf(spec) === pool.name
    const raw = draft.raw(entry)
    const next: Record<string, JsonValue> = { ...raw.spec }
    // The null is written out, so that no reader takes the missing pool for a mistake.
    if (isOwn) next['pool'] = null
    if (isFallback) delete next['onAllDown']
    const changed = draft.change(entry, { ...raw, spec: next })
    return changed.ok ? done : changed
  })
  if (!services.ok) return services
  for (const entry of overlaysOf(draft, pool, undefined)) draft.remove(entry)
  return done
}

/**
 * Updates references before a member is deleted. Its geo rules go as well, unless another member
 * has its address.
 */
export function leaveMember(draft: Draft, pool: Pool, member: MemberPart): Outcome {
  for (const entry of overlaysOf(draft, pool, member)) draft.remove(entry)
  if (hasTwin(pool, member)) return done
  return dropGeoRules(draft, pool, member)
}

/**
 * Updates references after a member has changed.
 * @param pool the pool before the change
 */
export function followMember(
  draft: Draft,
  pool: Pool,
  before: MemberPart,
  after: MemberPart,
): Outcome {
  const isMoved = targetOf(before) !== targetOf(after)
  if (!isMoved && before.name === after.name) return done
  return forEach([...overlaysOf(draft, pool, before)], (entry) => {
    if (entry.kind === 'Rollout') {
      const text = entry.object.spec.member
      const next = text === undefined ? undefined : newText(text, before, after)
      return next === undefined ? done : setSpec(draft, entry, { member: next })
    }
    const [poolText, text] = splitResource(entry.object.spec.resource)
    const next = text === undefined ? undefined : newText(text, before, after)
    return next === undefined ? done : setSpec(draft, entry, { resource: `${poolText}/${next}` })
  })
}

/** Returns the geo rules of a pool after one of its members got another address or host name. */
export function movedGeoRules(
  pool: Pool,
  rules: readonly JsonObject[],
  before: MemberPart,
  after: JsonObject,
): readonly JsonObject[] {
  const old = targetOf(before)
  const text = [after['ipAddress'], after['hostname']].find((one) => typeof one === 'string' && one)
  const isMoved = typeof text === 'string' && endpointKey(text) !== old
  if (!isMoved || hasTwin(pool, before)) return rules
  return rules.map((rule) => (endpointOf(rule) === old ? { ...rule, endpoint: text } : rule))
}

/** Returns the new text of a reference to a member; undefined: it does not change. */
function newText(text: string, before: MemberPart, after: MemberPart): string | undefined {
  if (text === before.name) {
    if (text === after.name) return undefined
    return after.name === '' ? targetText(after) : after.name
  }
  if (endpointKey(text) !== targetOf(before)) return undefined
  return endpointKey(text) === targetOf(after) ? undefined : targetText(after)
}

function dropGeoRules(draft: Draft, pool: Pool, member: MemberPart): Outcome {
  const rules = (draft.raw(pool).spec['geoRules'] ?? []) as readonly JsonObject[]
  const gone = targetOf(member)
  const kept = rules.filter((rule) => endpointOf(rule) !== gone)
  return kept.length === rules.length ? done : setSpec(draft, pool, { geoRules: kept })
}

type Overlay = ConfigEntry<'Rollout'> | ConfigEntry<'MaintenanceWindow'>

/** Lists rollouts and windows of a pool and all its members, or of one member. */
export function* overlaysOf(
  draft: Draft,
  pool: Pool,
  member: MemberPart | undefined,
): Generator<Overlay> {
  const isPool = (text: string): boolean =>
    text === pool.name || (text.toLowerCase() === pool.uid && !isName(draft, pool, text))
  const isMember = (text: string): boolean => member === undefined || isCalled(member, text)
  for (const entry of ofTenant(draft.entries('Rollout'), pool)) {
    const { spec } = entry.object
    const text = spec.member ?? spec.memberId ?? ''
    if (isPool(spec.pool) && isMember(text)) yield entry
  }
  const members: readonly MemberPart[] = member === undefined ? partsIn('Member', pool) : [member]
  for (const entry of ofTenant(draft.entries('MaintenanceWindow'), pool)) {
    const { resourceType, resource } = entry.object.spec
    if (resourceType === 'pool') {
      if (member === undefined && isPool(resource)) yield entry
      continue
    }
    const [poolText, text] = splitResource(resource)
    const byUid = members.some(({ uid }) => uid === resource.toLowerCase())
    if (byUid || (text !== undefined && isPool(poolText) && isMember(text))) yield entry
  }
}

function isName(draft: Draft, pool: Pool, text: string): boolean {
  return draft.holderOf('Pool', pool.tenant, text)?.tenant === pool.tenant
}

/** Whether a text names a member: by name, address or id, as the compiler resolves it. */
function isCalled(member: MemberPart, text: string): boolean {
  const placeOfUid = (uid: string): number => (uid === member.uid ? 0 : -1)
  return new MemberNames([member], placeOfUid).placesOf(text).length > 0
}

function hasTwin(pool: Pool, member: MemberPart): boolean {
  const target = targetOf(member)
  return partsIn('Member', pool).some(
    (other) => other.uid !== member.uid && targetOf(other) === target,
  )
}

function endpointOf({ endpoint }: JsonObject): string {
  return typeof endpoint === 'string' ? endpointKey(endpoint) : ''
}

function ofTenant<E extends ConfigEntry>(entries: readonly E[], pool: Pool): readonly E[] {
  return entries.filter(({ tenant }) => tenant === pool.tenant)
}
