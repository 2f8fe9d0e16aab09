// Services that name a pool: the index and a draft over it find the same as a look at all.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ConfigEntry } from '#config/entry.ts'
import { ConfigIndex } from '#config/object-index.ts'
import { checkObject } from '#config/check-object.ts'
import { Draft } from '#config/draft.ts'
import type { RawObject } from '#config/draft.ts'

type Service = ConfigEntry<'Service'>

const poolNames = ['a', 'b', 'c']
const names = ['s1', 's2', 's3', 's4', 's5']

/** `pool` null and `fallback` '': the service names none. */
const edit = fc.record({
  name: fc.constantFrom(...names),
  does: fc.constantFrom('write', 'write', 'write', 'remove'),
  pool: fc.constantFrom(null, ...poolNames),
  fallback: fc.constantFrom('', ...poolNames),
})
type Edit = typeof edit extends fc.Arbitrary<infer E> ? E : never

function rawOf({ name, pool, fallback }: Edit): RawObject {
  const spec = { domain: `${name}.example.com.`, pool }
  const onAllDown = fallback === '' ? {} : { onAllDown: `pool:${fallback}` }
  const metadata = { name }
  return { apiVersion: 'gslb/v1', kind: 'Service', metadata, spec: { ...spec, ...onAllDown } }
}

const pathOf = (name: string): string => `tenants/default/services/${name}.yaml`

function entryOf(one: Edit): Service {
  const checked = checkObject('Service', pathOf(one.name), rawOf(one))
  if (!checked.ok) throw new Error(JSON.stringify(checked.error))
  return checked.value as Service
}

const namesOf = (entries: readonly Service[]): readonly string[] =>
  entries.map(({ name }) => name).sort()

function expectAllFound(subject: {
  entries(kind: 'Service'): readonly Service[]
  servicesOf(poolName: string): readonly Service[]
}): void {
  for (const pool of poolNames) {
    const naming = subject.entries('Service').filter(({ object: { spec } }) => {
      return spec.pool === pool || spec.onAllDown === `pool:${pool}`
    })
    expect(namesOf(subject.servicesOf(pool))).toEqual(namesOf(naming))
  }
}

function apply(index: ConfigIndex, edits: readonly Edit[]): ConfigIndex {
  // The last edit of a name counts, as in one commit.
  const last = new Map(edits.map((one) => [one.name, one]))
  const changed = [...last.values()].filter(({ does }) => does === 'write').map(entryOf)
  const removed = [...last.values()]
    .filter(({ does }) => does === 'remove')
    .map((one) => ({ kind: 'Service', uid: entryOf(one).uid }) as const)
  return index.with({ revision: '1', changed, removed })
}

function applyToDraft(draft: Draft, one: Edit): void {
  const entry = draft.find('Service', { tenant: 'default', name: one.name })
  if (one.does === 'remove') {
    if (entry !== undefined) draft.remove(entry)
  } else if (entry === undefined) draft.add('Service', pathOf(one.name), rawOf(one))
  else draft.change(entry, rawOf(one))
}

test('after any commits and any changes of a draft all services that name a pool are found', () => {
  const commits = fc.array(fc.array(edit, { minLength: 1, maxLength: 5 }), { maxLength: 5 })
  fc.assert(
    fc.property(commits, fc.array(edit, { maxLength: 8 }), (all, drafted) => {
      let index = ConfigIndex.empty
      for (const edits of all) {
        index = apply(index, edits)
        expectAllFound(index)
      }
      const paths = { isTaken: () => false, isFile: () => false }
      const draft = new Draft({ base: index, rawOf: () => rawOf(drafted[0]!), paths })
      for (const one of drafted) {
        applyToDraft(draft, one)
        expectAllFound(draft)
      }
    }),
    { numRuns: 300 },
  )
})
