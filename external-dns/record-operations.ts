// Makes operations on records of what external-dns wants: a file for each name.
import { checkName } from '#compiler/values/names.ts'
import { nameInZone } from '#compiler/values/record-sets.ts'
import { plainValue } from '#compiler/values/plain-text.ts'
import { etagOf } from '#config/entry.ts'
import { zoneOf } from '#config/name-holder.ts'
import type { ConfigSnapshot } from '#config/object-index.ts'
import type { Operation } from '#config/operation.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { byCodeUnits } from '#lib/sequence/order.ts'
import { getOrInsert } from '#lib/sequence/get-or-insert.ts'
import { recordsPerFileMax } from '#schemas/objects/records.ts'
import { refused } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import { subjectOf } from './claims.ts'
import type { Wanted, WantedByKey } from './changes.ts'
import type { Endpoint } from './endpoint.ts'
import { setKey } from './held.ts'
import type { Held, HeldSet } from './held.ts'
import { isBalanced } from './level.ts'
import { externalDnsLimits } from './limits.ts'
import { isOwnershipText, markedText, ownerInText, readOwnership } from './ownership.ts'

interface Target {
  readonly snapshot: ConfigSnapshot
  readonly tenant: string
  readonly held: Held
}

/** The wanted state of a record set; without texts it is deleted. */
interface NewSet {
  readonly type: string
  readonly name: string
  /** In plain form. */
  readonly texts: readonly string[]
  /** 0: stays as it is. */
  readonly ttlSeconds: number
}

/** Deletions come last: a file whose last records go is a new one when others come. */
export function recordOperations(
  target: Target,
  wanted: WantedByKey,
): Result<readonly Operation[], Reply> {
  const first: Operation[] = []
  const last: Operation[] = []
  for (const next of newSets(target.held, wanted)) {
    const stored = target.held.sets.get(setKey(next.type, next.name))
    if (next.texts.length === 0) {
      if (stored !== undefined) last.push(removal(target, stored))
      continue
    }
    const made = stored === undefined ? creation(target, next) : ok(change(target, stored, next))
    if (!made.ok) return made
    first.push(...made.value)
  }
  return ok([...first, ...last])
}

function newSets(held: Held, wanted: WantedByKey): readonly NewSet[] {
  const sets = new Map<string, NewSet>()
  const set = (one: NewSet): void => void sets.set(setKey(one.type, one.name), one)
  const texts = new Map<string, Wanted[]>()
  for (const one of wanted.values()) {
    const { name, type, ttlSeconds, targets, properties } = one.endpoint
    if (type === 'TXT') {
      getOrInsert(texts, name, () => []).push(one)
      continue
    }
    const isHere = one.isThere && !isBalanced(one.endpoint)
    // A record may have become a member.
    const stays = (as: string): boolean => isHere && stored(type, properties['alias']) === as
    const types = type === 'CNAME' ? ['CNAME', 'ALIAS'] : [type]
    for (const as of types) {
      if (one.endpoint.set !== '') continue
      set({ type: as, name, texts: stays(as) ? targets : [], ttlSeconds })
    }
  }
  for (const [name, list] of texts) set(newTexts(name, list, held))
  return [...sets.values()]
}

const stored = (type: string, alias: string | undefined): string =>
  type === 'CNAME' && alias === 'true' ? 'ALIAS' : type

/** Texts of people, and those of the registry for each set identifier, are one record set. */
function newTexts(name: string, list: readonly Wanted[], held: Held): NewSet {
  const before = held.sets.get(setKey('TXT', name))?.texts ?? []
  const groups: Map<string, readonly string[]> = Map.groupBy(before, (text) =>
    isOwnershipText(text) ? ownershipKey(readOwnership(name, text).set) : peoplesKey,
  )
  let ttlSeconds = 0
  for (const { endpoint, isThere } of list) {
    const { set, isOwnership } = endpoint
    const key = isOwnership ? ownershipKey(set) : peoplesKey
    groups.set(key, isThere ? storedTexts(endpoint) : [])
    if (isThere) ttlSeconds = endpoint.ttlSeconds
  }
  const texts = new Set([...groups.values()].flat())
  return { type: 'TXT', name, texts: [...texts].sort(byCodeUnits), ttlSeconds }
}

const peoplesKey = ''
const ownershipKey = (set: string): string => `! ${set}`

function storedTexts(endpoint: Endpoint): readonly string[] {
  const { name, set, targets, isOwnership } = endpoint
  if (!isOwnership) return targets
  return targets.map((text) => {
    const of = subjectOf(endpoint, text)
    return markedText({ text, set, of }, name, ownerInText(text) !== '')
  })
}

function creation(
  { snapshot, tenant }: Target,
  { type, name, texts, ttlSeconds }: NewSet,
): Result<readonly Operation[], Reply> {
  const zone = zoneOf(snapshot, name)
  if (zone === undefined) {
    const sentence = `${name.slice(0, -1)} is in no zone of gslb.yaml: declare one for it`
    return err(refused(409, sentence))
  }
  const spec = {
    name: nameInZone(zone, name),
    type,
    ttl: ttlSeconds === 0 ? externalDnsLimits.ttlSecondsDefault : ttlSeconds,
    values: valuesOf(type, texts),
  }
  const owner = { tenant, name: fileName(snapshot, tenant, zone, name) }
  return ok([{ verb: 'create', kind: 'RecordSet', owner, spec, ownerSpec: { zone } }])
}

/** The file of the name, which people may have made; another one where that has no room. */
function fileName(snapshot: ConfigSnapshot, tenant: string, zone: string, name: string): string {
  const first = name.slice(0, -1).slice(0, nameLengthMax)
  for (let free = first, n = 2; ; free = `${first} ${n++}`) {
    const spec = snapshot.find('Records', tenant, free)?.object.spec
    if (spec === undefined) return free
    const isOfZone = checkName(spec.zone, false).key === zone
    if (isOfZone && spec.records.length < recordsPerFileMax / 2) return free
  }
}

const nameLengthMax = 200

function change(
  { tenant }: Target,
  { found, texts: before, ttlSeconds: ttlBefore }: HeldSet,
  { type, texts, ttlSeconds }: NewSet,
): readonly Operation[] {
  const isSame = JSON.stringify(before) === JSON.stringify(texts)
  const isSameTtl = ttlSeconds === 0 || ttlSeconds === ttlBefore
  if (isSame && isSameTtl) return []
  const patch = {
    ...(isSame ? {} : { values: valuesOf(type, texts) }),
    ...(isSameTtl ? {} : { ttl: ttlSeconds }),
  }
  return [{ verb: 'update', kind: 'RecordSet', ...on(tenant, found), patch }]
}

const removal = ({ tenant }: Target, { found }: HeldSet): Operation => ({
  ...{ verb: 'delete', kind: 'RecordSet', ...on(tenant, found) },
})

/** Compared with the objects on which it was computed. */
const on = (tenant: string, { part }: HeldSet['found']) => ({
  target: { uid: part.uid, tenant },
  ifMatch: etagOf(part),
})

function valuesOf(type: string, texts: readonly string[]): readonly string[] {
  return texts.map((text) => {
    const read = plainValue(type, text)
    return read.ok ? read.value.written : text
  })
}
