// Applies operations to the draft, one function per verb. Uses no Git, so that an operation can be
// applied again on another commit.
import { checkName } from '#compiler/values/names.ts'
import type { JsonObject, JsonValue } from '#compiler/yaml/text.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { tenantPathOf } from '#schemas/kinds.ts'
import type { Kind } from '#schemas/kinds.ts'
import { apiVersion } from '#schemas/objects/metadata.ts'
import { tenantIdPattern } from '#lib/text/patterns.ts'
import { reservedTenants } from '#schemas/objects/tenant.ts'
import type { ConfigEntry, ConfigPart } from '#config/entry.ts'
import { etagOf, partsIn } from '#config/entry.ts'
import { isTransferEntry } from '#config/name-index.ts'
import { globalNames, partOf } from '#config/object-index.ts'
import { isPartKind, partSpecs } from '#config/parts.ts'
import type { PartKind } from '#config/parts.ts'
import { merged, patched } from '#config/draft.ts'
import type { Draft, RawObject } from '#config/draft.ts'
import { fault } from '#config/fault.ts'
import type { Fault } from '#config/fault.ts'
import { freePath } from '#config/free-path.ts'
import type {
  BeginRollout,
  CreateObject,
  CreatePart,
  DeletePart,
  DisableMembers,
  ObjectOperation,
  Operation,
  PartOperation,
  RenameObject,
  UpdateObject,
  UpdatePart,
  WrittenObject,
} from '#config/operation.ts'
import { followMember, followName, leaveMember, leaveObject, movedGeoRules } from './references.ts'
import { pinned, rawParts } from './raw.ts'
import { decideRollout, settleOver, settleRollout, specOfNewRollout, taken } from './rollouts.ts'
import { leaveWindows, recordWindow, recordWindowsOf } from './windows.ts'

type Applied = Result<WrittenObject | null, Fault>

/** Changes the draft, or returns the fault; after a fault the caller rolls the draft back. */
export function applyOperation(draft: Draft, operation: Operation): Applied {
  return isPartKind(operation.kind)
    ? applyToPart(draft, operation as PartOperation)
    : applyToObject(draft, operation as ObjectOperation)
}

function applyToObject(draft: Draft, operation: ObjectOperation): Applied {
  const { verb, kind } = operation
  if (verb === 'create') return createObject(draft, operation)
  if (verb === 'begin') return beginRollout(draft, operation)
  const entry = draft.find(kind, operation.target)
  if (entry === undefined) return err(missing(operation))
  if (verb === 'disable-members') return disableMembers(draft, entry, operation)
  if (verb === 'record')
    return written(recordWindow(draft, entry as ConfigEntry<'MaintenanceWindow'>, operation.atMs))
  if (verb === 'settle')
    return written(settleRollout(draft, entry as ConfigEntry<'Rollout'>, operation))
  if (isStale(operation, draft.asBegun(entry).object)) return err(stale(operation))
  if (verb === 'decide')
    return written(decideRollout(draft, entry as ConfigEntry<'Rollout'>, operation))
  if (verb === 'update') return updateObject(draft, entry, operation)
  return verb === 'rename' ? renameObject(draft, entry, operation) : deleteObject(draft, entry)
}

function createObject(draft: Draft, { kind, name, uid, ...op }: CreateObject): Applied {
  const own = kind === 'Tenant' ? name : op.tenant
  const tenant = tenantPathOf(kind) === undefined ? '' : own
  if (kind === 'Settings') return createSettings(draft, op.spec)
  if (tenant !== '' && !isTenantId(tenant)) {
    return err(
      fault(
        'invalid',
        `"${tenant.slice(0, 64)}" cannot be the id of a tenant: write lower-case letters, ` +
          'digits and "-", at most 63.',
      ),
    )
  }
  if (draft.holderOf(kind, tenant, name) !== undefined) return err(nameTaken(kind, name))
  const spec = withPoolName(draft, op.spec, op.poolUid)
  if (!spec.ok) return spec
  const raw: RawObject = {
    apiVersion,
    kind,
    metadata: uid === undefined ? { name } : { name, uid },
    spec: spec.value,
  }
  const added = written(draft.add(kind, freePath(kind, tenant, name, draft), raw))
  const kept = added.ok ? keepConfiguration(draft) : added
  return kept.ok ? added : kept
}

function createSettings(draft: Draft, spec: JsonObject): Applied {
  if (draft.entries('Settings').length > 0)
    return err(fault('conflict', 'There are Settings already; change those.'))
  return written(draft.add('Settings', 'gslb.yaml', settingsFile(spec)))
}

const settingsName = 'settings'
const settingsFile = (spec: JsonObject): RawObject => ({
  ...{ apiVersion, kind: 'Settings', metadata: { name: settingsName }, spec },
})

function beginRollout(draft: Draft, operation: BeginRollout): Applied {
  const { kind, tenant, name, uid } = operation
  const spec = specOfNewRollout(draft, operation)
  if (!spec.ok) return spec
  return createObject(draft, { verb: 'create', kind, tenant, name, uid, spec: spec.value })
}

function isTenantId(tenant: string): boolean {
  return tenantIdPattern.test(tenant) && !reservedTenants.includes(tenant)
}

/** A write that names a pool being renamed now follows the rename. */
function withPoolName(
  draft: Draft,
  fields: JsonObject,
  poolUid: string | undefined,
): Result<JsonObject, Fault> {
  if (poolUid === undefined) return ok(fields)
  const pool = draft.get('Pool', poolUid)
  if (pool === undefined) return err(fault('invalid', 'The pool has just been deleted.'))
  return ok({ ...fields, pool: pool.name })
}

function updateObject(draft: Draft, entry: ConfigEntry, operation: UpdateObject): Applied {
  if (operation.group !== undefined) return updateGroup(draft, entry, operation.group, operation)
  const raw = draft.raw(entry)
  const patch = withPoolName(draft, operation.patch, operation.poolUid)
  if (!patch.ok) return patch
  const spec = patched(raw.spec, patch.value)
  return written(draft.change(entry, { ...raw, metadata: pinned(entry, raw), spec }))
}

function updateGroup(
  draft: Draft,
  entry: ConfigEntry,
  group: string,
  { patch, unless }: UpdateObject,
): Applied {
  const raw = draft.raw(entry)
  const before = raw.spec[group] as JsonObject | undefined
  if (before === undefined) return err(fault('not-found', `The ${entry.kind} has no ${group}.`))
  if (unless !== undefined && before[unless.field] === unless.value) {
    return err(fault('forbidden', unless.message))
  }
  const spec = { ...raw.spec, [group]: merged(before, patch) }
  return written(draft.change(entry, { ...raw, metadata: pinned(entry, raw), spec }))
}

function renameObject(draft: Draft, entry: ConfigEntry, { kind, name }: RenameObject): Applied {
  if (entry.name === name) return ok({ entry, part: null })
  if (kind === 'Tenant' || kind === 'Settings') {
    return err(fault('invalid', `The name of a ${kind} cannot change.`))
  }
  if (draft.holderOf(kind, entry.tenant, name) !== undefined) return err(nameTaken(kind, name))
  const raw = draft.raw(entry)
  const renamed = draft.change(entry, { ...raw, metadata: { ...pinned(entry, raw), name } })
  if (!renamed.ok) return renamed
  const followed = followName(draft, entry, name)
  return followed.ok ? written(renamed) : followed
}

function deleteObject(draft: Draft, entry: ConfigEntry): Applied {
  if (entry.kind === 'Settings') return err(fault('invalid', 'Settings cannot be deleted.'))
  const left = leaveObject(draft, entry)
  if (!left.ok) return left
  draft.remove(entry)
  return keepConfiguration(draft)
}

/**
 * Keeps the repository from becoming empty, which would count as lost: deleting the last object
 * leaves settings behind.
 */
function keepConfiguration(draft: Draft): Applied {
  if (!draft.isEmpty()) return ok(null)
  const kept = draft.add('Settings', 'gslb.yaml', settingsFile({}))
  return kept.ok ? ok(null) : kept
}

function applyToPart(draft: Draft, operation: PartOperation): Applied {
  if (operation.verb === 'create') return createPart(draft, operation)
  const found = draft.part(operation.kind, operation.target)
  if (found === undefined) return err(missing(operation))
  if (isOfPrimary(draft, found.owner)) return err(fault('forbidden', ofTransfer))
  if (isStale(operation, begunPart(draft, found, operation))) return err(stale(operation))
  if (operation.verb === 'delete') return deletePart(draft, found, operation)
  const respected = respectOverlays(draft, found, operation)
  return respected.ok ? updatePart(draft, respected.value, operation) : respected
}

/** Whether a primary server says what is in the file: nobody does once `from` is removed. */
function isOfPrimary(draft: Draft, owner: ConfigEntry): boolean {
  if (!isTransferEntry(owner)) return false
  const { key } = checkName((owner as ConfigEntry<'Records'>).object.spec.zone, false)
  const zones = draft.entries('Settings')[0]?.object.spec.zones ?? []
  return zones.some(({ name, from }) => from !== undefined && checkName(name, false).key === key)
}

const ofTransfer =
  'The record came by zone transfer: change it on its primary server. A record set of the same ' +
  'name and type that is written here goes before it.'

/**
 * Makes a write by hand take its member out of windows, and refuses it where a rollout would undo
 * it.
 * @returns the part after that
 */
function respectOverlays(
  draft: Draft,
  found: ConfigPart,
  { kind, patch, target, atMs }: UpdatePart,
): Result<ConfigPart, Fault> {
  if (kind !== 'Member' || atMs === undefined) return ok(found)
  const recorded = recordWindowsOf(draft, found.owner.uid, atMs)
  if (!recorded.ok) return recorded
  const live = settleOver(draft, found as ConfigPart<'Member'>, atMs)
  if (!live.ok) return live
  if (live.value !== null && 'weight' in patch) {
    return err(taken(live.value, 'it says what the member weighs'))
  }
  // null: the default, which is true.
  const isEnabling = 'enabled' in patch && patch['enabled'] !== false
  const left = isEnabling ? leaveWindows(draft, found.part.uid, atMs) : ok(null)
  return left.ok ? ok(draft.part(kind, target) ?? found) : left
}

function createPart(draft: Draft, operation: CreatePart): Applied {
  const { kind, owner: target, uid, spec, limit } = operation
  const { owner: ownerKind, list } = partSpecs[kind]
  const owner = draft.find(ownerKind, target)
  if (owner === undefined) return createWithOwner(draft, operation)
  if (isStale(operation, draft.asBegun(owner).object)) return err(stale(operation))
  if (kind === 'Member' && operation.atMs !== undefined) {
    const recorded = recordWindowsOf(draft, owner.uid, operation.atMs)
    if (!recorded.ok) return recorded
  }
  if (uid !== undefined && draft.part(kind, { uid }) !== undefined) {
    return err(fault('conflict', `There is a ${kind} with this id already.`))
  }
  const raw = draft.raw(owner)
  const parts = rawParts(raw, list)
  if (limit !== undefined && parts.length >= limit.partsMax) {
    return err(fault('too-many', limit.message))
  }
  const part = uid === undefined ? spec : { ...spec, uid }
  const next = { ...raw, spec: { ...raw.spec, [list]: [...parts, part] } }
  return writtenPart(draft.change(owner, next), kind, parts.length)
}

function createWithOwner(draft: Draft, { kind, owner, uid, spec, ownerSpec }: CreatePart): Applied {
  const { owner: ownerKind, list } = partSpecs[kind]
  if (ownerSpec === undefined || !('name' in owner)) {
    return err(fault('not-found', `There is no such ${ownerKind}.`))
  }
  const part = uid === undefined ? spec : { ...spec, uid }
  const making = { verb: 'create', kind: ownerKind, ...owner } as const
  const made = createObject(draft, { ...making, spec: { ...ownerSpec, [list]: [part] } })
  return made.ok && made.value !== null ? writtenPart(ok(made.value.entry), kind, 0) : made
}

/** Disables all members in one change, so that the pool is checked once. */
function disableMembers(draft: Draft, entry: ConfigEntry, { members }: DisableMembers): Applied {
  const { list } = partSpecs.Member
  const wanted = new Set(members)
  const raw = draft.raw(entry)
  const parts = [...rawParts(raw, list)]
  for (const [i, { uid }] of partsIn('Member', entry).entries()) {
    if (wanted.has(uid)) parts[i] = { ...patched(parts[i] ?? {}, { enabled: false }), uid }
  }
  return written(draft.change(entry, { ...raw, spec: { ...raw.spec, [list]: parts } }))
}

function updatePart(draft: Draft, found: ConfigPart, { kind, patch }: UpdatePart): Applied {
  const { owner, part: before, position } = found
  const { list, isIdWritten } = partSpecs[kind]
  const raw = draft.raw(owner)
  const parts = [...rawParts(raw, list)]
  const next = patched(parts[position] ?? {}, patch)
  // A derived id may depend on the changed fields, so only a written id is kept.
  parts[position] = isIdWritten ? { ...next, uid: before.uid } : next
  const spec: Record<string, JsonValue> = { ...raw.spec, [list]: parts }
  if (kind !== 'Member') {
    return writtenPart(draft.change(owner, { ...raw, spec }), kind, position)
  }
  const pool = owner as ConfigEntry<'Pool'>
  const member = before as ConfigPart<'Member'>['part']
  const rules = rawParts(raw, 'geoRules')
  const moved = movedGeoRules(pool, rules, member, parts[position] ?? {})
  if (moved !== rules) spec['geoRules'] = moved
  const changed = draft.change(owner, { ...raw, spec })
  if (!changed.ok) return changed
  const after = partOf('Member', changed.value, before.uid)
  const followed = after === undefined ? ok(null) : followMember(draft, pool, member, after.part)
  return followed.ok ? writtenPart(changed, kind, position) : followed
}

function deletePart(draft: Draft, found: ConfigPart, { kind }: DeletePart): Applied {
  const { list, isLastTheOwner } = partSpecs[kind]
  const isLast = partsIn(kind, found.owner).length === 1
  if (isLast && isLastTheOwner === true) return deleteObject(draft, found.owner)
  const uid = found.part.uid
  let { owner } = found
  if (kind === 'Member') {
    const left = leaveMember(
      draft,
      owner as ConfigEntry<'Pool'>,
      found.part as ConfigPart<'Member'>['part'],
    )
    if (!left.ok) return left
    owner = draft.get(owner.kind, owner.uid) ?? owner
  }
  const position = partOf(kind, owner, uid)?.position
  const raw = draft.raw(owner)
  const parts = rawParts(raw, list).filter((_, i) => i !== position)
  const changed = draft.change(owner, { ...raw, spec: { ...raw.spec, [list]: parts } })
  return changed.ok ? ok(null) : changed
}

function written(changed: Result<ConfigEntry, Fault>): Applied {
  return changed.ok ? ok({ entry: changed.value, part: null }) : changed
}

function writtenPart(
  changed: Result<ConfigEntry, Fault>,
  kind: PartKind,
  position: number,
): Applied {
  if (!changed.ok) return changed
  const { spec } = changed.value.object
  const parts = (spec as unknown as Record<string, readonly JsonObject[]>)[partSpecs[kind].list]
  return ok({ entry: changed.value, part: parts?.[position] ?? null })
}

/** @param begun the object before the request, which may have changed it since */
function isStale({ ifMatch }: { readonly ifMatch?: string }, begun: object): boolean {
  return ifMatch !== undefined && ifMatch !== '*' && ifMatch !== etagOf(begun)
}

function begunPart(draft: Draft, { owner, part }: ConfigPart, { kind }: PartOperation): object {
  return partOf(kind, draft.asBegun(owner), part.uid)?.part ?? part
}

function stale({ kind }: Operation): Fault {
  return fault(
    'precondition-failed',
    `The ${kind} has changed since it was read. Read it again, and decide anew.`,
  )
}

function missing(operation: Operation): Fault {
  return fault('not-found', `There is no such ${operation.kind}.`)
}

function nameTaken(kind: Kind, name: JsonValue): Fault {
  const reach = globalNames.includes(kind) ? ' (names are unique over all tenants)' : ''
  const there = `name: there is a ${kind} named ${JSON.stringify(name)} already${reach}`
  return fault('conflict', `${there}; choose another name.`)
}
