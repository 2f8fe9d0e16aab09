// Which requests may be planned together: those that have no name in common.
import { expect, test } from 'vitest'
import { subjectsOf } from '#node/plan/write-subjects.ts'
import { ConfigIndex } from '#config/object-index.ts'
import type { Operation } from '#config/operation.ts'
import { member, objectOf } from '#test/support/feed-world.ts'

const pools = ['web', 'spare', 'other'].map((name, i) =>
  objectOf('Pool', 'acme', name, { members: [member(`192.0.2.${i + 1}`)] }),
)
const [web, spare, other] = pools as [(typeof pools)[0], (typeof pools)[0], (typeof pools)[0]]
const www = objectOf('Service', 'acme', 'www', {
  ...{ domain: 'www.example.com.', pool: 'web', onAllDown: 'pool:spare' },
})
const config = ConfigIndex.empty.with({ revision: 'c', changed: [...pools, www], removed: [] })
const memberOf = (pool: typeof web): string => pool.object.spec.members[0]!.uid!

const record = (type: string): Operation => ({
  ...{ verb: 'create', kind: 'RecordSet', owner: { tenant: 'acme', name: 'zone' } },
  spec: { name: 'a', type, values: ['x'] },
})
const operations: Readonly<Record<string, Operation>> = {
  'a member of the pool': { verb: 'delete', kind: 'Member', target: { uid: memberOf(web) } },
  'the pool, by its name': {
    ...{ verb: 'rename', kind: 'Pool', name: 'new' },
    target: { tenant: 'acme', name: 'web' },
  },
  'its service': { verb: 'update', kind: 'Service', target: { uid: www.uid }, patch: {} },
  'the fallback of its service': { verb: 'delete', kind: 'Pool', target: { uid: spare.uid } },
  'a new service of it': {
    ...{ verb: 'create', kind: 'Service', tenant: 'acme', name: 'new', poolUid: web.uid },
    spec: { domain: 'new.example.com.' },
  },
  'a service of its name': {
    ...{ verb: 'create', kind: 'Service', tenant: 'acme', name: 'new' },
    spec: { domain: 'WWW.example.com', pool: null },
  },
  'another pool': { verb: 'create', kind: 'Member', owner: { uid: other.uid }, spec: {} },
  'a new pool': { verb: 'create', kind: 'Pool', tenant: 'acme', name: 'new', spec: {} },
  'a text': record('TXT'),
  'an address': record('A'),
  'an alias': record('CNAME'),
  'the settings': { verb: 'update', kind: 'Settings', target: { uid: 's' }, patch: {} },
}
const subjects = (what: string): ReadonlySet<string> | null => {
  const actor = { name: 'user:1', address: 'user-1@users.gslbd' }
  return subjectsOf(config, { requestId: 'r', actor, operations: [operations[what]!] })
}

test.each<[what: string, than: string, isDisjoint: boolean]>([
  ['a member of the pool', 'the pool, by its name', false],
  ['a member of the pool', 'its service', false],
  ['a member of the pool', 'the fallback of its service', false],
  ['a member of the pool', 'a new service of it', false],
  ['its service', 'the fallback of its service', false],
  ['its service', 'a service of its name', false],
  ['another pool', 'a member of the pool', true],
  ['another pool', 'its service', true],
  ['another pool', 'a text', true],
  ['a new pool', 'another pool', true],
])('%s and %s have no name in common: %#', (what, than, isDisjoint) => {
  expect(subjects(what)!.isDisjointFrom(subjects(than)!)).toBe(isDisjoint)
})

test.each(['an address', 'an alias', 'the settings'])('%s is planned alone', (what) => {
  expect(subjects(what)).toBeNull()
})

test('a pool of very many services is planned alone', () => {
  const services = Array.from({ length: 300 }, (_, i) =>
    objectOf('Service', 'acme', `s${i}`, { domain: `s${i}.example.com.`, pool: 'other' }),
  )
  const large = config.with({ revision: 'd', changed: services, removed: [] })
  const actor = { name: 'user:1', address: 'user-1@users.gslbd' }
  const request = { requestId: 'r', actor, operations: [operations['another pool']!] }
  expect(subjectsOf(large, request)).toBeNull()
})
