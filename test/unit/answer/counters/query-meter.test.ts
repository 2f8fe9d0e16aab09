// Questions by tenant: none counted twice, none lost when bundles change.
import { expect, test } from 'vitest'
import type { Bundle } from '#bundle/format/bundle.ts'
import type { ServiceModel } from '#bundle/format/model.ts'
import { mark } from '#answer/counters/mark.ts'
import { queryCells, QueryMeter } from '#answer/counters/query-meter.ts'
import { useMarks } from '#answer/counters/use-marks.ts'
import {
  bareModel,
  bundleOf,
  newSigningKey,
  pool,
  service,
  zone,
} from '../../../support/bundle-models.ts'
import { ask } from '../../../support/dns/client.ts'
import { publish } from '../../../support/node-under-test.ts'
import { startedNode } from '../../../support/started-node.ts'

const memory = (bytes: number): SharedArrayBuffer => new SharedArrayBuffer(bytes)
const modelOf = (...tenants: readonly string[]) => ({
  ...bareModel,
  zones: [zone('test.')],
  services: tenants.map((tenant, i): ServiceModel => ({
    ...service(i + 1, `s${i}.test.`, { pool: -1 }),
    tenant,
  })),
})
const bundleWith = (...tenants: readonly string[]): Bundle => bundleOf(modelOf(...tenants))
const counts = (meter: QueryMeter): unknown => Object.fromEntries(meter.take())

test('sums over threads and services, each time what is new', () => {
  const meter = new QueryMeter(2)
  const bundle = bundleWith('acme', 'acme', 'zenith')
  const buffer = meter.carry(bundle, memory)
  const [one, two] = [queryCells(bundle, 0, buffer), queryCells(bundle, 1, buffer)]
  expect(counts(meter)).toEqual({})
  one.set([1, 2, 4])
  two.set([8, 16, 32])
  expect(counts(meter)).toEqual({ acme: 27, zenith: 36 })
  expect(counts(meter)).toEqual({})
  two[2]! += 5
  expect(counts(meter)).toEqual({ zenith: 5 })
})

test('threads that lag behind a new bundle are counted for the tenants of theirs', () => {
  const meter = new QueryMeter(1)
  const [first, second, third] = [bundleWith('acme'), bundleWith('zenith'), bundleWith()]
  const before = queryCells(first, 0, meter.carry(first, memory))
  before[0] = 3
  const after = queryCells(second, 0, meter.carry(second, memory))
  before[0] += 4
  after[0]! += 2
  expect(counts(meter)).toEqual({ acme: 7, zenith: 2 })
  before[0] += 1
  meter.carry(third, (bytes) => {
    // It may be the memory of the first, which is lost with this.
    before[0] = 0
    return memory(bytes)
  })
  expect(counts(meter)).toEqual({ acme: 1 })
})

test('used names wait in bounded memory while they are not taken', () => {
  const meter = new QueryMeter(1, 3)
  for (const count of [1, 2, 3, 4]) {
    const bundle = bundleWith(...Array.from({ length: count }, () => 'acme'))
    const { names } = useMarks(bundle, meter.carry(bundle, memory))
    for (let node = 0; node < bundle.counts.nodes; node++) mark(names, node)
  }
  expect(meter.takeUsed().names).toHaveLength(3)
  expect(meter.takeUsed().names).toEqual([])
})

test('threads write to cells of their own, in no line of the cache together', () => {
  const bundle = bundleWith('acme')
  const buffer = new QueryMeter(3).carry(bundle, memory)
  const offsets = [0, 1, 2].map((thread) => queryCells(bundle, thread, buffer).byteOffset)
  expect(offsets).toEqual([64, 128, 192])
})

test.each([0, 2])('a node with %i threads counts UDP and TCP, of any type', async (threads) => {
  const key = newSigningKey()
  const { node, port } = await startedNode({ trusted: key, threads })
  const server = { host: '127.0.0.1', port }
  await node.activate(publish(key, modelOf('acme', 'zenith'), { seq: 1 }))
  for (const tcp of [false, true]) {
    for (const question of ['s0.test. A', 's0.test. AAAA', 's0.test. TXT', 's1.test. A']) {
      await ask(server, question, { tcp })
    }
  }
  // Nobody's: the zone, a name that is not there, a name of somebody else.
  for (const question of ['test. SOA', 'x.test. A', 'example. A']) await ask(server, question)
  expect(Object.fromEntries(node.meter.take())).toEqual({ acme: 6, zenith: 2 })
  await node.activate(publish(key, modelOf('zenith'), { seq: 2 }))
  await ask(server, 's0.test. A')
  expect(Object.fromEntries(node.meter.take())).toEqual({ zenith: 1 })
})

test('where nobody takes what was used, a change does not look at the marks', () => {
  const bundle = bundleWith('acme')
  for (const [usedMax, isTaken] of [
    [0, false],
    [1, true],
  ] as const) {
    const meter = new QueryMeter(1, usedMax)
    const marks = useMarks(bundle, meter.carry(bundle, memory)).names
    mark(marks, 0)
    meter.carry(bundle, memory)
    expect(marks[0] === 0).toBe(isTaken)
    expect(meter.takeUsed().names).toHaveLength(usedMax)
  }
})

test.each([0, 2])(
  'a node with %i threads tells what was asked for, and who was answered',
  async (threads) => {
    const key = newSigningKey()
    const { node, port } = await startedNode({ trusted: key, threads })
    const server = { host: '127.0.0.1', port }
    const model = {
      ...bareModel,
      zones: [zone('test.')],
      pools: [pool(1, ['192.0.2.1', '192.0.2.2'])],
      services: [
        service(1, 's0.test.'),
        service(2, 's1.test.'),
        service(3, '*.test.', { pool: -1 }),
      ],
    }
    await node.activate(publish(key, model, { seq: 1 }))
    expect(node.meter.takeUsed()).toEqual({ names: [], members: [] })
    for (const question of ['S0.test. A', 's0.test. TXT', 'any.test. A', 'other. A']) {
      await ask(server, question)
    }
    const used = node.meter.takeUsed()
    expect(used.names.toSorted()).toEqual(['*.test.', 's0.test.'])
    expect(used.members).toHaveLength(1)
    expect(model.pools[0]!.members.map(({ uid }) => uid)).toContain(used.members[0])
    expect(node.meter.takeUsed()).toEqual({ names: [], members: [] })
    // What was marked before a change is told after it, and marks do not move to other rows.
    await ask(server, 's1.test. TXT')
    await node.activate(publish(key, modelOf('acme'), { seq: 2 }))
    expect(node.meter.takeUsed()).toEqual({ names: ['s1.test.'], members: [] })
    expect(node.meter.objects()?.all()?.names.toSorted()).toEqual(['s0.test.', 'test.'])
  },
)
