// TXT records written at run time, on a whole node: live on every thread when the write is done.
import { expect, test } from 'vitest'
import type { BundleModel } from '#bundle/format/model.ts'
import { err } from '#lib/result.ts'
import { encodedHere } from '#zones/dynamic/written-encoder.ts'
import { DynamicDns } from '#zones/dynamic/dynamic-dns.ts'
import { createLocalCopy } from '#zones/dynamic/local-copy.ts'
import type { DynamicDnsStore } from '#state/ports/dynamic-dns.ts'
import { silentLog } from '#test/support/api-ports.ts'
import { newSigningKey, zone } from '#test/support/bundle-models.ts'
import { ask } from '#test/support/dns/client.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { answerOf, askGeneration, generation, publish } from '#test/support/node-under-test.ts'
import { persistentAdapters, useState } from '#test/support/persistent-adapters.ts'
import { errorsOf, startedNode } from '#test/support/started-node.ts'
import { valueOf } from '#test/support/store-values.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { storedTxt } from '#test/support/txt-records.ts'
import type { Txt } from '#test/support/txt-records.ts'

const key = newSigningKey()
const state = useState(persistentAdapters[0]![1])

const away: DynamicDnsStore = new Proxy({} as DynamicDnsStore, {
  get: () => async () => err({ code: 'store-away', message: 'The database is away.' }),
})

async function startDynamic(
  copyPath = `${tempDir('dynamic')}/copy`,
  store = state().dynamicDns,
): Promise<DynamicDns> {
  const { clock, after } = new FakeTime(1_000)
  const copy = createLocalCopy(copyPath, null, silentLog)
  const parts = { store, copy, secretKey: null, now: clock.nowMs, after, log: silentLog }
  const dynamic = new DynamicDns(parts)
  await dynamic.start()
  return dynamic
}

async function start(threads: number) {
  const dynamic = await startDynamic()
  const started = await startedNode({ trusted: key, threads, dynamic })
  await started.node.activate(publish(key, generation(1), { seq: 1 }))
  const add = async (txt: Txt) => valueOf(dynamic.createRecord(storedTxt(txt)))
  const remove = async ([name, text]: Txt) =>
    valueOf(dynamic.deleteRecord('every-tenant', `${name} ${text}`))
  /** Each from a socket of its own: the kernel spreads them over the threads. */
  const texts = async (name: string, tcp = false): Promise<string> => {
    const server = { host: '127.0.0.1', port: started.port }
    const { rcode, answer } = await ask(server, `${name} TXT`, { tcp })
    return answer.length === 0 ? `rcode ${rcode}` : answer.map((one) => one.rdataText).join(' ')
  }
  return { ...started, dynamic, add, remove, texts }
}

test.each([0, 1, 2])('a change is live on all of %i threads when it is done', async (threads) => {
  const { node, log, add, remove, texts } = await start(threads)
  const everywhere = async (name: string): Promise<string[]> => {
    const udp = await Promise.all(Array.from({ length: 8 }, () => texts(name)))
    return [...new Set([...udp, await texts(name, true)])]
  }
  expect(await everywhere('_a.s0.test.')).toEqual(['rcode 3'])
  for (let i = 0; i < 50; i++) {
    await add(['_a.s0.test.', `${i}`])
    expect(node.isSettled()).toBe(true)
    expect(await everywhere('_a.s0.test.')).toEqual([`"${i}"`])
    await remove(['_a.s0.test.', `${i}`])
    expect(node.isSettled()).toBe(true)
    expect(await everywhere('_a.s0.test.')).toEqual(['rcode 3'])
  }
  expect(errorsOf(log)).toEqual([])
})

test('records and bundles change at once, and no answer is of neither', async () => {
  const { node, log, port, add, remove, texts } = await start(2)
  const count = 100
  const bundles = async (): Promise<void> => {
    for (let seq = 2; seq <= count; seq++) {
      await node.activate(publish(key, generation(seq), { seq }))
      expect(await askGeneration(port)).toBe(answerOf(seq))
    }
  }
  const records = async (): Promise<void> => {
    await add(['stays.test.', 'x'])
    for (let i = 0; i < count; i++) {
      await add(['_a.s0.test.', `${i}`])
      expect(await texts('_a.s0.test.')).toBe(`"${i}"`)
      expect(await texts('stays.test.')).toBe('"x"')
      await remove(['_a.s0.test.', `${i}`])
      expect(await texts('_a.s0.test.')).toBe('rcode 3')
    }
  }
  await Promise.all([bundles(), records()])
  expect(await texts('stays.test.')).toBe('"x"')
  expect(errorsOf(log)).toEqual([])
})

test('many records are live when their write is done, and so are those of a new zone', async () => {
  const { node, log, dynamic, add, remove, texts } = await start(1)
  const stored = Array.from({ length: 2 * encodedHere.names }, (_, i) =>
    storedTxt([`n${i}.s0.test.`, `${i}`]),
  )
  const { promise, resolve } = Promise.withResolvers<void>()
  let took = 0
  node.onServed(() => void (++took === 1 && resolve()))
  // All at once: most of them are taken over together.
  await Promise.all([...stored.map((one) => valueOf(dynamic.createRecord(one))), promise])
  expect(took).toBeLessThan(stored.length)
  for (const i of [0, stored.length - 1]) expect(await texts(`n${i}.s0.test.`)).toBe(`"${i}"`)
  const serial = node.status().serial
  for (let i = 0; i < 3; i++) {
    await add(['_a.s0.test.', `${i}`])
    expect([await texts('_a.s0.test.'), node.isSettled()]).toEqual([`"${i}"`, true])
    await remove(['_a.s0.test.', `${i}`])
    expect([await texts('_a.s0.test.'), node.isSettled()]).toEqual(['rcode 3', true])
  }
  expect(node.status().serial).toBe(serial + 6)
  await add(['a.later.', 'x'])
  const model = generation(2)
  const withZone = { ...model, zones: [...model.zones, zone('later.')] }
  await node.activate(publish(key, withZone, { seq: 2 }))
  expect([await texts('a.later.'), await texts('n7.s0.test.')]).toEqual(['"x"', '"7"'])
  await node.activate(publish(key, generation(3), { seq: 3 }))
  expect([await texts('a.later.'), await texts('n7.s0.test.')]).toEqual(['rcode 5', '"7"'])
  expect(errorsOf(log)).toEqual([])
})

test('a zone that comes brings the records of its names, one that goes takes them', async () => {
  const { node, log, add, texts } = await start(1)
  await add(['a.later.', 'x'])
  expect(await texts('a.later.')).toBe('rcode 5')
  const withZone = (number: number): BundleModel => {
    const model = generation(number)
    return { ...model, zones: [...model.zones, zone('later.')] }
  }
  await node.activate(publish(key, withZone(2), { seq: 2 }))
  expect(await texts('a.later.')).toBe('"x"')
  await node.activate(publish(key, generation(3), { seq: 3 }))
  expect(await texts('a.later.')).toBe('rcode 5')
  const left = log.filter(({ message }) => message.includes('not served'))
  expect(left.map(({ fields }) => fields['outside'])).toEqual([1, 1])
})

test('a node starts with what its copy has, without the database', async () => {
  const copy = `${tempDir('dynamic-copy')}/copy`
  const first = await startDynamic(copy)
  await valueOf(first.createRecord(storedTxt(['_a.s0.test.', 'kept'])))
  first.stop()
  const again = await startDynamic(copy, away)
  const dataDir = tempDir('dynamic-node')
  const before = await startedNode({ trusted: key, dataDir })
  await before.node.activate(publish(key, generation(1), { seq: 1 }))
  await before.stop()
  const { port } = await startedNode({ trusted: key, dataDir, dynamic: again })
  const { answer } = await ask({ host: '127.0.0.1', port }, '_a.s0.test. TXT')
  expect(answer.map(({ rdataText }) => rdataText)).toEqual(['"kept"'])
})
