// Defines the JSON of a commit in the history, and of its changes, field by field.
import { Type } from '#lib/schema/type.ts'
import type { CommitChange, HistoryCommit, ObjectChange } from '#config/history.ts'
import type { CommitActivation, HeldCommit } from '#state/ports/commit-records.ts'
import { nullable, unixSeconds, UnixSeconds } from '#http/shapes.ts'

const objectFields = {
  kind: Type.String(),
  id: Type.String(),
  tenantId: Type.String({ description: 'Empty: of the whole installation' }),
  name: Type.String(),
  change: Type.String({ description: '`created`, `updated` or `deleted`' }),
}

const Activation = Type.Object({ node: Type.String(), since: UnixSeconds })

const commitFields = {
  commit: Type.String(),
  parent: nullable(Type.String({ description: 'null: the first commit, or a held one' })),
  author: Type.String(),
  time: UnixSeconds,
  subject: Type.String({ description: 'Empty where it may be about objects of others' }),
  verdict: Type.String({ description: '`accepted` or `held`' }),
  code: Type.String({ description: 'Of a held one as in the Git status; empty: accepted' }),
  reason: Type.String({ description: 'Why it is held, and what to do; empty: accepted' }),
  heldAt: nullable(UnixSeconds),
  activeAt: nullable({ ...UnixSeconds, description: 'When the first node answered from it' }),
  activeOn: Type.Array(Activation, {
    description: 'Nodes that have answered from it, as far back as they are known; by time',
  }),
  isActive: Type.Boolean({ description: 'The node that answers serves it now' }),
  isPartial: Type.Boolean({ description: 'It changed more than is shown' }),
}

export const HistoryEntry = Type.Object(
  { ...commitFields, objects: Type.Array(Type.Object(objectFields)) },
  { title: 'HistoryEntry' },
)

const FieldChange = Type.Object({
  field: Type.String({ description: 'As `members.<id>.weight`' }),
  before: Type.Optional(Type.Unknown({ description: 'Left out: there was none' })),
  after: Type.Optional(Type.Unknown({ description: 'Left out: there is none' })),
})

export const HistoryDetail = Type.Object(
  {
    ...commitFields,
    objects: Type.Array(Type.Object({ ...objectFields, fields: Type.Array(FieldChange) })),
  },
  { title: 'HistoryDetail' },
)

export const Reverted = Type.Object(
  {
    commit: Type.String({
      description: 'The new commit; of a dry run, and where nothing changed, the newest one',
    }),
    reverts: Type.String(),
  },
  { title: 'Reverted' },
)

/** Facts about commits that Git does not have. */
export interface Fates {
  /** The commit that this node serves. */
  readonly active: string | null
  readonly activations: readonly CommitActivation[]
}

export function showCommit(commit: HistoryCommit, { active, activations }: Fates) {
  const { commit: id, parent, author, atSeconds: time, subject, isMore, objects } = commit
  return {
    ...{ commit: id, parent, author, time, subject, verdict: 'accepted' },
    ...{ code: '', reason: '', heldAt: null, ...activeOf(id, activations) },
    ...{ isActive: id === active, isPartial: isMore },
    objects: objects.map(({ kind, uid, tenant: tenantId, name, change }) => ({
      ...{ kind, id: uid, tenantId, name, change },
    })),
  }
}

function activeOf(commit: string, all: readonly CommitActivation[]) {
  const own = all.filter((one) => one.commit === commit)
  const activeOn = own.map(({ node, atMs }) => ({ node, since: unixSeconds(atMs) }))
  return { activeAt: activeOn[0]?.since ?? null, activeOn }
}

/** A held commit, without its objects: they did not pass the checks. */
export function showHeld(held: HeldCommit) {
  const { commit, author, committedAtMs, code, reason, heldAtMs } = held
  return {
    ...{ commit, parent: null, author, time: unixSeconds(committedAtMs), subject: '' },
    ...{ verdict: 'held', code, reason, heldAt: unixSeconds(heldAtMs) },
    ...{ activeAt: null, activeOn: [], isActive: false, isPartial: true, objects: [] },
  }
}

/** Changed fields shown for one commit, over all its objects. */
const fieldsMax = 1_000

export function showChange(change: CommitChange, fates: Fates) {
  const shown = showCommit(change, fates)
  let left = fieldsMax
  const objects = shown.objects.map((object) => {
    const found = change.changes.find(
      ({ uid, tenant, kind }) =>
        uid === object.id && tenant === object.tenantId && kind === object.kind,
    )
    const fields = found === undefined ? [] : fieldsOf(found).slice(0, left)
    left -= fields.length
    return { ...object, fields }
  })
  return { ...shown, isPartial: shown.isPartial || left <= 0, objects }
}

interface Field {
  readonly field: string
  readonly before?: unknown
  readonly after?: unknown
}

function fieldsOf({ before, after }: ObjectChange): readonly Field[] {
  const fields: Field[] = []
  if (before !== null && after !== null && before.name !== after.name) {
    fields.push({ field: 'name', before: before.name, after: after.name })
  }
  compare('', before?.object.spec, after?.object.spec, fields)
  return fields
}

function compare(path: string, before: unknown, after: unknown, fields: Field[]): void {
  if (fields.length > fieldsMax || JSON.stringify(before) === JSON.stringify(after)) return
  const [old, now] = [namedIn(before), namedIn(after)]
  // An added or removed value is shown whole.
  const isWhole = path !== '' && (before === undefined || after === undefined)
  if (isWhole || (old === undefined && now === undefined)) {
    const sides = { ...(before !== undefined && { before }), ...(after !== undefined && { after }) }
    fields.push({ field: path, ...sides })
    return
  }
  for (const name of new Set([...(old?.keys() ?? []), ...(now?.keys() ?? [])])) {
    compare(path === '' ? name : `${path}.${name}`, old?.get(name), now?.get(name), fields)
  }
}

/** Values by name, or for a list by id of its elements; undefined: the value is shown whole. */
function namedIn(value: unknown): ReadonlyMap<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (!Array.isArray(value)) return new Map(Object.entries(value))
  const list = value as readonly { readonly uid?: unknown }[]
  if (list.length === 0 || !list.every((one) => typeof one?.uid === 'string')) return undefined
  return new Map(list.map((one) => [String(one.uid), one]))
}
