// Tests the list of unused objects: only those known to be unused are listed.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { ObjectUse, UseRecord } from '#state/ports/object-use.ts'
import { ok } from '#lib/result.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { keyOf, rootKey, startConfigWorld } from '#test/support/config-world.ts'
import type { ConfigWorld } from '#test/support/config-world.ts'
import { seenNode } from '#test/support/seen-node.ts'
import type { SeenNode } from '#ports/cluster-view.ts'

const dayMs = 86_400_000
const nowMs = Date.UTC(2030, 0, 31)
let world: ConfigWorld
let objects: Map<string, ObjectUse>
let changes: Map<string, number>
let nodes: UseRecord['nodes']
let gaps = { names: '', redirects: '' }
let others: SeenNode[] = []
const uid: Record<string, string> = {}

const old: ObjectUse = { seenMs: nowMs - 90 * dayMs, usedMs: null }
const usedAgo = (days: number): ObjectUse => ({ ...old, usedMs: nowMs - days * dayMs })
const counting = (days: number, more = {}) => ({
  ...{ node: 'a', sinceMs: nowMs - days * dayMs, untilMs: nowMs, isStopped: false },
  ...more,
})

beforeAll(async () => {
  world = await startConfigWorld({
    ports: {
      clock: new FakeTime(nowMs).clock,
      objectUse: { read: async () => ok({ nodes, objects, changes }), gaps: () => gaps },
      cluster: {
        nodes: async () => others,
        restart: async () => ok(null),
      },
    },
  })
  const make = async (path: string, body: object) => {
    const made = await world.call(keyOf('acme'), 'POST', path, body)
    if (made.status !== 201) throw new Error(made.text)
    return made.body.id
  }
  uid['pool'] = await make('/pools', { name: 'web' })
  const members = `/pools/${uid['pool']}/members`
  uid['first'] = await make(members, { ipAddress: '192.0.2.1', port: 80, priority: 1 })
  uid['spare'] = await make(members, { ipAddress: '192.0.2.2', port: 80, priority: 2 })
  const service = { name: 'www', poolId: uid['pool'], ttl: 3_600 }
  uid['www'] = await make('/services', { domain: 'WWW.example.com.', ...service })
})
afterAll(() => world.close())

beforeEach(() => {
  objects = new Map([
    ['name www.example.com.', old],
    [`member ${uid['first']}`, usedAgo(40)],
    [`member ${uid['spare']}`, old],
  ])
  changes = new Map()
  nodes = [counting(60)]
  gaps = { names: '', redirects: '' }
  others = [seenNode('a')]
})

interface Answer {
  readonly isWhole: boolean
  readonly countedSince: number | null
  readonly used: number
  readonly unused: readonly { kind: string; name: string; note: string; lastUsed: number | null }[]
  readonly unknown: readonly { what: string; reason: string }[]
  readonly ttls: readonly { ttl: number; advisedTtl: number; healthChanges: number }[]
}
const ask = async (query = '', by = keyOf('acme')): Promise<Answer> => {
  const answer = await world.call(by, 'GET', `/unused${query}`)
  expect(answer.status).toBe(200)
  return answer.body as unknown as Answer
}
const namesOf = ({ unused }: Answer) => unused.map(({ kind, name, note }) => [kind, name, note])

test('names and members that no answer used, with what explains it', async () => {
  const answer = await ask()
  expect(namesOf(answer)).toEqual([
    ['name', 'www.example.com.', ''],
    ['member', 'web/192.0.2.1', ''],
    ['member', 'web/192.0.2.2', 'standby'],
  ])
  expect(answer.unused.map(({ lastUsed }) => lastUsed)).toEqual([
    null,
    (nowMs - 40 * dayMs) / 1000,
    null,
  ])
  expect(answer.isWhole).toBe(true)
})

test('objects used in the window are left out; the window can be set', async () => {
  objects.set('name www.example.com.', usedAgo(3))
  expect(namesOf(await ask()).map(([, name]) => name)).not.toContain('www.example.com.')
  expect(await ask()).toMatchObject({ used: 1 })
  expect(namesOf(await ask('?days=2')).map(([, name]) => name)).toContain('www.example.com.')
  expect(namesOf(await ask('?days=50')).map(([, name]) => name)).not.toContain('web/192.0.2.1')
})

test('new objects, and those no node has reported, are not called unused', async () => {
  objects.set('name www.example.com.', { seenMs: nowMs - 3 * dayMs, usedMs: null })
  objects.delete(`member ${uid['spare']}`)
  expect(namesOf(await ask()).map(([, name]) => name)).toEqual(['web/192.0.2.1'])
})

test.each<[string, () => void, object]>([
  ['nobody has counted', () => (nodes = []), { countedSince: null }],
  [
    'one node counts for less',
    () => (nodes = [counting(60), counting(10, { node: 'b' })]),
    { countedSince: (nowMs - 10 * dayMs) / 1000 },
  ],
  [
    'a node is silent',
    () => (nodes = [counting(60), counting(60, { node: 'b', untilMs: nowMs - dayMs })]),
    { unknown: expect.arrayContaining([expect.objectContaining({ what: 'node b' })]) as object },
  ],
  [
    'a node does not tell',
    () => others.push(seenNode('far', { role: 'dns' })),
    {
      unknown: expect.arrayContaining([
        { what: 'node far', reason: 'nodes of the role dns do not tell what their answers use' },
      ]) as object,
    },
  ],
])('%s: nothing is called unused, and it is said', async (_what, prepare, said) => {
  prepare()
  expect(await ask()).toMatchObject({ isWhole: false, unused: [], ...said })
})

test('a node that has stopped is not waited for', async () => {
  nodes = [counting(60), counting(60, { node: 'b', untilMs: nowMs - dayMs, isStopped: true })]
  expect(await ask()).toMatchObject({ isWhole: true })
})

test('where others answer as well, names and members are not known', async () => {
  gaps = { names: 'zones are transferred', redirects: '' }
  const answer = await ask()
  expect(answer.unused).toEqual([])
  expect(answer.unknown[0]?.reason).toBe('zones are transferred')
})

test('another tenant sees nothing of it, the operator all', async () => {
  expect(await ask('', keyOf('zenith'))).toMatchObject({ unused: [], ttls: [] })
  expect(namesOf(await ask('', rootKey))).toHaveLength(3)
})

test('a TTL that does not fit how often members changed', async () => {
  changes = new Map([
    [uid['first']!, 10],
    [uid['spare']!, 4],
  ])
  expect((await ask()).ttls).toMatchObject([{ ttl: 3_600, advisedTtl: 300, healthChanges: 14 }])
  changes = new Map()
  expect((await ask()).ttls).toEqual([])
})
