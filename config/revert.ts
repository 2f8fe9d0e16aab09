// Turns the changes of a commit into operations that take it back, unless later changes stand in
// the way.
import { namedPoolsOf } from '#compiler/tree/fallback.ts'
import type { JsonObject, JsonValue } from '#compiler/yaml/text.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { kindNames } from '#schemas/kinds.ts'
import { etagOf, partsIn } from './entry.ts'
import type { ConfigEntry } from './entry.ts'
import type { ObjectChange } from './history.ts'
import type { ConfigSnapshot } from './object-index.ts'
import type { Operation } from './operation.ts'
import { partKindsOf, partSpecs } from './parts.ts'

/** Errors: sentences, one for each object whose later changes would be lost. */
export function revertOperations(
  changes: readonly ObjectChange[],
  snapshot: ConfigSnapshot,
): Result<readonly Operation[], readonly string[]> {
  const conflicts: string[] = []
  const [creations, updates, deletions] = [[], [], []] as [Operation[], Operation[], Operation[]]
  const order = changes.toSorted((a, b) => kindNames.indexOf(a.kind) - kindNames.indexOf(b.kind))
  const own = new Set(changes.map(({ uid }) => uid))
  for (const change of order) {
    const now = snapshot.get(change.kind, change.uid)
    const conflict = (why: string): void => {
      conflicts.push(`${change.kind} ${change.name} ${why}`)
    }
    if (change.before === null) {
      if (now === undefined) continue
      if (!isSame(now.object, change.after?.object)) conflict('was changed since')
      else if (isNamedByOthers(now, snapshot, own)) conflict('is used by a service since')
      else deletions.unshift({ ...targetOf(now), verb: 'delete', ifMatch: etagOf(now.object) })
    } else if (change.after === null) {
      if (now !== undefined) {
        if (now.tenant !== change.before.tenant) conflict('belongs to another tenant now')
        else if (!isSame(now.object, change.before.object)) conflict('was made anew since')
      } else if (snapshot.holderOf(change.kind, change.before.tenant, change.before.name)) {
        conflict('has a name that another one has now')
      } else creations.push(creationOf(change.before))
    } else if (now === undefined) {
      conflict('was deleted since')
    } else {
      const changed = updatesOf(change.before, change.after, now, conflict)
      updates.push(...changed.map((one, i) => withMatch(one, i === 0 ? now : undefined)))
    }
  }
  return conflicts.length > 0 ? err(conflicts) : ok([...creations, ...updates, ...deletions])
}

type Change = Operation & { readonly verb: 'create' | 'update' | 'rename' | 'delete' }

/** Adds the etag of a changed object, which may change between this read and the write. */
function withMatch(operation: Change, now: ConfigEntry | undefined): Operation {
  const isOfObject = operation.verb === 'rename' || operation.kind === now?.kind
  return now !== undefined && isOfObject && operation.verb !== 'create'
    ? { ...operation, ifMatch: etagOf(now.object) }
    : operation
}

const targetOf = ({ kind, tenant, uid }: ConfigEntry) => ({ kind, target: { uid, tenant } })

function creationOf({ kind, tenant, name, uid, object }: ConfigEntry): Operation {
  const spec: Record<string, unknown> = { ...object.spec }
  for (const part of partKindsOf(kind)) {
    const { list, isIdWritten } = partSpecs[part]
    if (isIdWritten) continue
    spec[list] = (spec[list] as JsonObject[]).map(({ uid: _uid, ...rest }) => rest)
  }
  return { verb: 'create', kind, tenant, name, uid, spec: spec as JsonObject }
}

/** Whether services that the commit did not make name a pool that it made. */
function isNamedByOthers(
  { kind, name }: ConfigEntry,
  snapshot: ConfigSnapshot,
  own: ReadonlySet<string>,
): boolean {
  if (kind !== 'Pool') return false
  return snapshot
    .list('Service')
    .some(({ uid, object }) => !own.has(uid) && namedPoolsOf(object.spec).includes(name))
}

/** Returns updates that restore the fields and parts that the commit changed. */
function updatesOf(
  before: ConfigEntry,
  after: ConfigEntry,
  now: ConfigEntry,
  conflict: (why: string) => void,
): Change[] {
  const operations: Change[] = []
  if (before.name !== after.name) {
    if (now.name !== after.name) conflict('was renamed since')
    else operations.push({ ...targetOf(now), verb: 'rename', name: before.name })
  }
  const lists = new Set(partKindsOf(now.kind).map((kind) => partSpecs[kind].list))
  const isField = (field: string): boolean => !lists.has(field)
  const patch = patchOf(fieldsOf(before), fieldsOf(after), fieldsOf(now), isField, conflict)
  if (Object.keys(patch).length > 0) operations.push({ ...targetOf(now), verb: 'update', patch })
  for (const kind of partKindsOf(now.kind)) {
    const [old, made, there] = [before, after, now].map(
      (entry) =>
        new Map(partsIn(kind, entry).map((part) => [part.uid, part as unknown as JsonObject])),
    ) as unknown as [Parts, Parts, Parts]
    for (const uid of new Set([...old.keys(), ...made.keys()])) {
      const [was, became, is] = [old.get(uid), made.get(uid), there.get(uid)]
      if (isSame(was, became) || isSame(is, was)) continue
      const target = { kind, target: { uid, tenant: now.tenant } }
      if (was === undefined) {
        if (!isSame(is, became)) conflict(`has a ${kind} that was changed since`)
        else operations.push({ ...target, verb: 'delete' })
      } else if (became === undefined) {
        const { uid: _uid, ...rest } = was
        const spec = partSpecs[kind].isIdWritten ? was : rest
        if (is !== undefined) conflict(`has a ${kind} that was made anew since`)
        else operations.push({ verb: 'create', kind, owner: targetOf(now).target, spec })
      } else if (is === undefined) {
        conflict(`has lost a ${kind} since`)
      } else {
        const fields = patchOf(was, became, is, () => true, conflict)
        if (Object.keys(fields).length > 0) {
          operations.push({ ...target, verb: 'update', patch: fields })
        }
      }
    }
  }
  return operations
}

type Parts = ReadonlyMap<string, JsonObject>
type Fields = Readonly<Record<string, JsonValue | undefined>>

const fieldsOf = ({ object }: ConfigEntry): Fields => object.spec

function patchOf(
  before: Fields,
  after: Fields,
  now: Fields,
  isField: (field: string) => boolean,
  conflict: (why: string) => void,
): JsonObject {
  const patch: Record<string, JsonValue> = {}
  for (const field of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (!isField(field) || isSame(before[field], after[field])) continue
    if (isSame(now[field], before[field])) continue
    if (isSame(now[field], after[field])) patch[field] = before[field] ?? null
    else conflict(`has another ${field} since`)
  }
  return patch
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
