// When a zone is pushed, by which node, what holds it, and what is known of it afterwards.
import { describe, expect, test } from 'vitest'
import { pushLimits } from '#integrations/zone-push/limits.ts'
import type { SetChange } from '#integrations/zone-push/push-target.ts'
import type { PushSettings } from '#integrations/zone-push/zone-pusher.ts'
import { ZonePusher } from '#integrations/zone-push/zone-pusher.ts'
import { err, ok } from '#lib/result.ts'
import { keptLog } from '#test/support/certificates.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { memoryPushes, memoryTarget, set } from '#test/support/zone-push/memory-target.ts'
import type { MemoryTarget } from '#test/support/zone-push/memory-target.ts'

const name = (i: number): string => `n${i}.example.com. 300 A 192.0.2.${i}`
const zoneOf = (count: number): string[] => Array.from({ length: count }, (_, i) => name(i + 1))
const signal = new AbortController().signal
const asked = { plan: '', adopt: false, atMs: 1 }

interface Options {
  readonly settings?: Partial<PushSettings>
  readonly target?: MemoryTarget
  readonly store?: ReturnType<typeof memoryPushes>
  readonly time?: FakeTime
  readonly node?: string
}

function world(wanted: readonly string[], options: Options = {}) {
  const { target = memoryTarget(), store = memoryPushes(), node = 'c1' } = options
  const { time = new FakeTime(Date.UTC(2026, 10, 30)) } = options
  const { log, lines } = keptLog()
  const zone = { lines: wanted, fault: '' }
  const pusher = new ZonePusher({
    settings: {
      ...{ name: 'mirror', type: 'memory', zone: 'example.com.', intervalMs: 300_000 },
      ...{ isAutomatic: true, deletesMax: 2, hasApexNs: false, ...options.settings },
    },
    ...{ target, store, node, instance: `${node}-1`, clock: time.clock, log },
    mark: () => zone.lines.join(),
    wanted: () => (zone.fault === '' ? ok(zone.lines.map(set)) : err(zone.fault)),
  })
  const look = async (): Promise<void> => {
    await pusher.look()
    await pusher.idle()
  }
  const round = async (): Promise<void> => {
    time.pass(300_000)
    await look()
  }
  return { pusher, target, store, time, zone, look, round, lines }
}

test('a zone is pushed at the start, after a change, and where others changed it', async () => {
  const { pusher, target, zone, look, round, time } = world(zoneOf(2))
  await look()
  expect(target.lines()).toEqual(zoneOf(2))
  zone.lines = zoneOf(3)
  await look()
  expect(target.lines()).toHaveLength(2)
  pusher.changed()
  await look()
  expect(target.lines()).toEqual(zoneOf(3))
  target.sets.delete('n1.example.com. A')
  target.put('mine.example.com. 60 TXT "x"')
  time.pass(299_000)
  await look()
  expect(pusher.state.report).toMatchObject({ missing: 0, foreign: 0 })
  time.pass(1_000)
  await look()
  expect(target.lines()).toEqual(['mine.example.com. 60 TXT "x"', ...zoneOf(3)])
  expect(pusher.state.report).toMatchObject({ missing: 1, foreign: 1, fault: '', same: 3 })
  await round()
  expect(pusher.state.report).toMatchObject({ missing: 0, foreign: 1, adds: 0, written: 4 })
})

test('a commit that leaves the zone as it is asks the target nothing', async () => {
  const { pusher, target, look } = world(zoneOf(1))
  await look()
  target.fault = 'nobody should ask'
  pusher.changed()
  await look()
  expect(pusher.state.report).toMatchObject({ fault: '' })
})

describe('a target is read again only where its own zone has changed', () => {
  test.each<readonly [says: string, settings: Partial<PushSettings>]>([
    ['one that a person has to push', { isAutomatic: false }],
    ['one that is held', { deletesMax: 0 }],
  ])('%s', async (_, settings) => {
    const { pusher, target, zone, look, round } = world(zoneOf(2), { settings })
    await look()
    zone.lines = zoneOf(1)
    await round()
    const { reads } = target
    for (let i = 0; i < 5; i++) {
      pusher.changed()
      await look()
    }
    expect(target.reads).toBe(reads)
    zone.lines = zoneOf(2)
    pusher.changed()
    await look()
    expect(target.reads).toBe(reads + 1)
  })
})

test('what a person asked for is done once, though that cannot be stored for a while', async () => {
  const { pusher, target, store, look, zone } = world(zoneOf(2), {
    settings: { isAutomatic: false },
  })
  await look()
  await pusher.ask(asked)
  const { replace } = store
  let tries = 0
  store.replace = async () => {
    tries++
    return ok(false)
  }
  await look()
  expect(target.lines()).toEqual(zoneOf(2))
  const { reads } = target
  zone.lines = zoneOf(3)
  tries = 0
  for (let i = 0; i < 3; i++) await look()
  expect([target.reads, target.lines()]).toEqual([reads, zoneOf(2)])
  expect(tries).toBe(15)
  store.replace = replace
  await look()
  expect(pusher.state).toMatchObject({ asked: null, report: { written: 2 } })
  expect(target.reads).toBe(reads)
})

describe('a push that deletes more than its limit', () => {
  test('is held until this very plan is permitted', async () => {
    const { pusher, target, zone, round, look, lines } = world(zoneOf(9))
    await look()
    zone.lines = zoneOf(2)
    await round()
    expect(target.lines()).toHaveLength(9)
    const { report } = pusher.state
    expect(report).toMatchObject({ held: { deletes: 7, limit: 2 }, deletes: 7, fault: '' })
    expect(lines.filter((line) => line.includes('held'))).toHaveLength(1)
    await pusher.ask({ ...asked, plan: '0123456789abcdef' })
    await look()
    expect(pusher.state.report?.fault).toContain('not what was permitted any more')
    await pusher.ask({ ...asked, plan: report!.plan })
    await look()
    expect(target.lines()).toEqual(zoneOf(2))
    expect(pusher.state).toMatchObject({ asked: null, report: { held: null, fault: '' } })
  })

  test('takes nothing away where the zone is gone', async () => {
    const { pusher, target, zone, round, look } = world(zoneOf(2))
    await look()
    zone.fault = 'the configuration has no zone example.com.'
    await round()
    expect(target.lines()).toEqual(zoneOf(2))
    expect(pusher.state.report).toMatchObject({ fault: zone.fault, same: 2 })
  })
})

test('with the mode manual nothing is written until a person asks', async () => {
  const { pusher, target, look, round } = world(zoneOf(2), { settings: { isAutomatic: false } })
  await round()
  expect(target.lines()).toEqual([])
  expect(pusher.state.report).toMatchObject({ adds: 2, written: 0 })
  await pusher.ask(asked)
  await look()
  expect(target.lines()).toEqual(zoneOf(2))
})

test('a plan that only changes TTLs is pending, and written once it is done', async () => {
  const { pusher, zone, look, round } = world(zoneOf(3), { settings: { isAutomatic: false } })
  await pusher.ask(asked)
  await look()
  expect(pusher.state.report).toMatchObject({ written: 3, same: 3, plan: '' })
  zone.lines = zoneOf(3).map((line) => line.replace(' 300 ', ' 60 '))
  await round()
  expect(pusher.state.report).toMatchObject({ adds: 0, deletes: 0, ttlChanges: 3, same: 0 })
  expect(pusher.state.report?.plan).toMatch(/^[0-9a-f]{16}$/)
  await pusher.ask(asked)
  await look()
  expect(pusher.state.report).toMatchObject({ written: 6, ttlChanges: 0, same: 3, plan: '' })
})

test('a TTL that the target takes and does not change is drift, and is sent once', async () => {
  const memory = memoryTarget(zoneOf(2))
  const sent: number[] = []
  // As Knot DNS does with name servers of the zone.
  let isKept = ({ owner }: SetChange): boolean => owner.startsWith('n1.')
  const send: MemoryTarget['send'] = async (changes, end) => {
    sent.push(changes.length)
    const made = changes.filter((one) => !isKept(one))
    return await memory.send(made, end)
  }
  const target = { ...memory, send }
  const { pusher, zone, look, round } = world(zoneOf(2), { target })
  await pusher.ask({ ...asked, adopt: true })
  await look()
  const withTtl = (ttl: number) => zoneOf(2).map((line) => line.replace(' 300 ', ` ${ttl} `))
  zone.lines = withTtl(60)
  for (let i = 0; i < 4; i++) await round()
  expect(sent).toEqual([2])
  const why = 'not taken: it keeps the TTL 300, and 60 was sent'
  expect(pusher.state.report).toMatchObject({ plan: '', conflicts: 1, ttlChanges: 0 })
  expect(pusher.state.report?.notes[0]).toContain(why)
  // A person has it sent again, and so does another TTL.
  await pusher.ask(asked)
  await look()
  expect(sent).toEqual([2, 1])
  zone.lines = withTtl(90)
  for (let i = 0; i < 3; i++) await round()
  expect(sent).toEqual([2, 1, 2])
  isKept = () => false
  await pusher.ask(asked)
  await look()
  await round()
  expect(target.lines()).toEqual(withTtl(90))
  expect(pusher.state.report).toMatchObject({ conflicts: 0, taken: [] })
})

test('TTLs that are kept are sent once in a large zone, too, and none is as wanted', async () => {
  const count = 300
  const memory = memoryTarget(zoneOf(count))
  const sent: number[] = []
  const send: MemoryTarget['send'] = async (changes, end) => {
    sent.push(changes.length)
    return await memory.send([], end)
  }
  const { pusher, zone, look, round } = world(zoneOf(count), { target: { ...memory, send } })
  await pusher.ask({ ...asked, adopt: true })
  await look()
  zone.lines = zoneOf(count).map((line) => line.replace(' 300 ', ' 60 '))
  for (let i = 0; i < 3; i++) await round()
  expect(sent.reduce((sum, one) => sum + one, 0)).toBe(count)
  expect(pusher.state.report).toMatchObject({ same: 0, conflicts: count, written: count })
})

describe('records that were there before', () => {
  test('stay when they are not wanted any more', async () => {
    const { target, zone, look, round } = world(zoneOf(2), { target: memoryTarget([name(1)]) })
    await look()
    zone.lines = []
    await round()
    expect(target.lines()).toEqual([name(1)])
  })

  test('are ours once a person says so', async () => {
    const { pusher, target, zone, look, round } = world(zoneOf(2), {
      target: memoryTarget([name(1), 'x.example.com. 60 A 192.0.2.99']),
    })
    await look()
    await pusher.ask({ ...asked, adopt: true })
    await look()
    zone.lines = []
    await round()
    expect(target.lines()).toEqual(['x.example.com. 60 A 192.0.2.99'])
  })

  test('are not ours at another place', async () => {
    const first = world(zoneOf(2))
    await first.look()
    const moved = memoryTarget(zoneOf(2), 'memory 2')
    const { look } = world([], { ...first, target: moved })
    await look()
    expect(moved.lines()).toEqual(zoneOf(2))
    expect(first.store.owned.size).toBe(0)
  })
})

describe('where a target does not take all', () => {
  test('the rest is written, and what was refused is not ours', async () => {
    const { pusher, target, store, look, zone, round } = world(zoneOf(8))
    target.refuses = (changes) =>
      changes.some(({ owner }) => owner === 'n3.example.com.')
        ? { is: 'refused', why: 'n3 is not taken' }
        : null
    await look()
    expect(target.lines()).toEqual(zoneOf(8).filter((line) => !line.startsWith('n3.')))
    expect(pusher.state.report).toMatchObject({
      fault: 'n3 is not taken (at n3.example.com.)',
      adds: 1,
      written: 7,
    })
    expect(store.owned.size).toBe(7)
    target.put(name(3))
    zone.lines = zoneOf(7).filter((line) => !line.startsWith('n3.'))
    await round()
    expect(target.lines()).toEqual(zoneOf(7))
  })

  test('a target that lets nothing in is asked once, and then ever less often', async () => {
    const { target, store, look, time, lines } = world(zoneOf(8))
    let asks = 0
    target.refuses = () => {
      asks++
      return { is: 'stopped', why: 'the token is wrong' }
    }
    for (let i = 0; i < 100; i++) {
      await look()
      time.pass(5_000)
    }
    expect(asks).toBeLessThan(6)
    expect(store.owned.size).toBe(0)
    expect(lines.filter((line) => line.includes('not pushed'))).toHaveLength(1)
  })

  test('what may have been written counts as ours', async () => {
    const { target, store, zone, look, round } = world(zoneOf(2))
    target.refuses = (changes) => {
      for (const { after } of changes) target.put(`${after.owner} 300 A ${after.values.join(' ')}`)
      return { is: 'failed', why: 'no answer' }
    }
    await look()
    expect(store.owned.size).toBe(2)
    target.refuses = () => null
    zone.lines = []
    await round()
    expect(target.lines()).toEqual([])
  })

  test('many names go in several requests', async () => {
    const { target, look } = world(zoneOf(250))
    await look()
    expect(target.sizes).toEqual([100, 100, 50])
  })
})

test('sets that the target cannot have are skipped, and an alias at the apex', async () => {
  const wanted = [name(1), 'a.example.com. 60 HINFO x', 'example.com. 60 CNAME b.example.']
  const { pusher, target, look } = world(wanted)
  await look()
  expect(target.lines()).toEqual([name(1)])
  expect(pusher.state.report).toMatchObject({
    ...{ skipped: 2, fault: '' },
    notes: [
      'a.example.com. HINFO: it has no such type',
      'example.com. CNAME: the apex of a zone cannot have a CNAME record',
    ],
  })
})

describe('several nodes', () => {
  test('one pushes; another one takes over when it stops, or says nothing any more', async () => {
    const first = world(zoneOf(1))
    await first.look()
    const { store, target, time } = first
    const second = world(zoneOf(2), { store, target, time, node: 'c2' })
    for (let i = 0; i < 30; i++) {
      await first.look()
      await second.look()
      time.pass(5_000)
    }
    expect([first.pusher.isHolder, second.pusher.isHolder]).toEqual([true, false])
    expect(second.pusher.state.report).toMatchObject({ same: 1 })
    await second.pusher.ask(asked)
    await first.look()
    expect(first.pusher.state.asked).toBeNull()
    await first.pusher.stop()
    await second.look()
    expect(second.pusher.isHolder).toBe(true)
    expect(target.lines()).toEqual(zoneOf(2))
    const third = world(zoneOf(3), { store, target, time, node: 'c3' })
    await third.look()
    time.pass(pushLimits.abandonedMs)
    await third.look()
    expect(target.lines()).toEqual(zoneOf(3))
  })

  test('a process takes over from the one before it at the same node', async () => {
    const first = world(zoneOf(1))
    await first.look()
    const { store, target, time } = first
    const second = world(zoneOf(2), { store, target, time })
    await second.look()
    expect(target.lines()).toEqual(zoneOf(2))
  })
})

test('without the database nothing is written, and what is wrong is known', async () => {
  const { pusher, target, store, look } = world(zoneOf(2))
  store.isAway = true
  await look()
  expect(target.lines()).toEqual([])
  expect(pusher.fault).toBe('The database does not answer.')
  expect((await pusher.plan(signal)).ok).toBe(true)
  expect(await pusher.ask(asked)).toEqual(err('The database does not answer.'))
})
