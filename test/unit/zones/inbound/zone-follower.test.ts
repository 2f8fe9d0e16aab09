// When a zone from elsewhere is asked for, what comes of it, and when it expires, by a clock that
// is moved by hand.
import { describe, expect, test } from 'vitest'
import { ok } from '#lib/result.ts'
import type { PrimaryQuestion } from '#zones/inbound/ask-primary.ts'
import type { StoredZone, TakeFault } from '#zones/inbound/zone-follower.ts'
import { timers, World } from '#test/support/dns/inbound-world.ts'

test('it is asked for at once, and again by the timers of its SOA record', async () => {
  const world = new World()
  await world.started()
  expect(world.follower.status()).toMatchObject({ state: 'current', serial: 1, transfers: 1 })
  await world.pass(3_599_000)
  expect(world.asked).toHaveLength(1)
  world.serials.set(53, 2)
  await world.pass(1_000)
  expect(world.asked.at(-1)).toMatchObject({ port: 53, question: { serial: 1, wants: 'changes' } })
  expect(world.follower.status()).toMatchObject({ serial: 2, transfers: 2 })
})

test('NOTIFY asks at once, and many of them ask once', async () => {
  const world = new World()
  await world.started()
  world.serials.set(53, 2)
  for (let i = 0; i < 50; i++) world.follower.notice()
  await world.pass(250)
  expect(world.asked).toHaveLength(2)
  expect(world.follower.status()).toMatchObject({ serial: 2 })
})

test('a zone that always changes is a commit a minute, after twenty at once', async () => {
  const world = new World()
  await world.started()
  const change = async (seconds: number): Promise<void> => {
    for (let i = 0; i < seconds; i++) {
      world.serials.set(53, world.serials.get(53)! + 1)
      world.follower.notice()
      await world.pass(1_000)
    }
  }
  await change(19)
  expect(world.taken).toHaveLength(20)
  await change(6 * 60)
  expect(world.taken).toHaveLength(26)
  await world.pass(60_000)
  expect(world.taken).toHaveLength(27)
  // What has changed meanwhile is in the last one; a zone that is quiet may have many again.
  expect(world.follower.status()).toMatchObject({ state: 'current', serial: world.serials.get(53) })
  await world.pass(20 * 60_000)
  await change(19)
  expect(world.taken).toHaveLength(46)
})

test('the next server is asked where one is away, or has an older zone', async () => {
  const world = new World(0, { soa: { serial: 5, ...timers }, isExpired: false })
  world.serials.set(53, undefined).set(5_353, 6)
  await world.started()
  expect(world.asked.map(({ port }) => port)).toEqual([53, 5_353])
  expect(world.follower.status()).toMatchObject({ state: 'current', serial: 6 })
  world.serials.set(53, 4).set(5_353, 7)
  await world.pass(3_600_000)
  expect(world.follower.status()).toMatchObject({ state: 'current', serial: 7 })
})

test('a serial that goes back is not taken but by a person', async () => {
  const world = new World(0, { soa: { serial: 5, ...timers }, isExpired: false })
  world.serials.set(53, 4)
  await world.started()
  expect(world.follower.status()).toMatchObject({ state: 'failing', serial: 5 })
  expect(world.follower.status().error).toContain('has the serial 4, which is before 5 here')
  expect(await world.follower.accept({ reason: 'it was installed anew' })).toEqual(ok(4))
  expect(world.follower.status()).toMatchObject({ state: 'current', serial: 4, error: '' })
})

test('it expires after the time of its SOA record, and comes back by itself', async () => {
  const world = new World()
  await world.started()
  world.serials.set(53, undefined)
  await world.pass(3_600_000)
  expect(world.follower.status()).toMatchObject({ state: 'failing', failures: 1 })
  for (let i = 0; i < 140 && world.marks.length === 0; i++) await world.pass(600_000)
  // A day after the last contact, and no later than a second beyond it.
  const sinceMs = world.time.clock.nowMs() - world.contactAtMs
  expect(sinceMs).toBeGreaterThanOrEqual(86_400_000)
  expect(sinceMs).toBeLessThanOrEqual(86_400_000 + 600_000)
  expect(world.marks).toEqual([true])
  expect(world.follower.status().state).toBe('expired')
  world.serials.set(53, 1)
  await world.pass(600_000)
  expect(world.marks).toEqual([true, false])
  expect(world.follower.status()).toMatchObject({ state: 'current', serial: 1 })
})

test('a restart does not put off its end, and a clock that jumps expires nothing', async () => {
  const stored = { soa: { serial: 1, ...timers }, isExpired: false }
  const world = new World(1_800_000_000_000 - 86_000_000, stored)
  world.serials.set(53, undefined)
  world.time.jump(40 * 86_400_000)
  await world.started()
  expect(world.marks).toEqual([])
  for (let i = 0; i < 3; i++) await world.pass(300_000)
  expect(world.marks).toEqual([true])
})

test('a zone that another node has brought up to date is heard of', async () => {
  const world = new World(0, { soa: { serial: 1, ...timers }, isExpired: false })
  world.serials.set(53, undefined)
  await world.started()
  await world.pass(80_000_000)
  world.stored = { soa: { serial: 2, ...timers }, isExpired: false }
  world.follower.storedChanged()
  for (let i = 0; i < 20; i++) await world.pass(600_000)
  expect(world.marks).toEqual([])
})

test('a zone whose files a commit has taken away comes back at once', async () => {
  const world = new World()
  await world.started()
  world.shared.stored = undefined
  world.follower.storedChanged()
  await world.pass(250)
  expect(world.follower.status()).toMatchObject({ state: 'current', serial: 1 })
  expect(world.taken).toHaveLength(2)
})

describe('what came cannot be taken', () => {
  const rows: readonly [TakeFault['is'], string][] = [
    ['held', 'held'],
    ['refused', 'refused'],
  ]
  test.each(rows)('%s: it is not transferred again until it changes', async (is, state) => {
    const world = new World()
    world.fault = { is, reason: 'it removes too much' }
    await world.started()
    expect(world.follower.status()).toMatchObject({
      state,
      offered: 1,
      error: 'it removes too much',
    })
    await world.pass(3_600_000)
    expect(world.asked.at(-1)!.question.refused).toBe(1)
    expect(world.follower.status()).toMatchObject({ state, offered: 1 })
    expect(await world.follower.accept({ reason: 'it is meant' })).toEqual(ok(1))
    expect(world.taken).toEqual([{ reason: 'it is meant' }])
  })

  test('refused: a commit has it tried again, each half a minute at most', async () => {
    const world = new World()
    world.fault = { is: 'refused', reason: 'a name is in the way' }
    await world.started()
    for (let i = 0; i < 59; i++) {
      world.follower.storedChanged()
      await world.pass(1_000)
    }
    expect(world.asked).toHaveLength(2)
    world.fault = undefined
    world.follower.storedChanged()
    await world.pass(1_000)
    expect(world.follower.status()).toMatchObject({ state: 'current', serial: 1 })
  })

  test('later: it is written when that can be done', async () => {
    const world = new World()
    world.fault = { is: 'later', reason: 'Git does not answer' }
    await world.started()
    expect(world.follower.status()).toMatchObject({
      state: 'failing',
      error: 'Git does not answer',
    })
    world.fault = undefined
    await world.pass(5_000)
    expect(world.follower.status()).toMatchObject({ state: 'current', serial: 1 })
  })

  test('later, for an hour: it is transferred ever less often, at least each retry', async () => {
    const world = new World()
    world.fault = { is: 'later', reason: 'Git does not answer' }
    await world.started()
    for (let i = 0; i < 720; i++) await world.pass(5_000)
    // After 5, 10, 20 ... 320 s, which are 635 s, and then each 600 s.
    expect(world.asked).toHaveLength(12)
    world.fault = undefined
    await world.pass(600_000)
    expect(world.follower.status()).toMatchObject({ state: 'current', serial: 1 })
    world.fault = { is: 'later', reason: 'Git does not answer' }
    world.serials.set(53, 2)
    await world.pass(3_600_000)
    const asked = world.asked.length
    await world.pass(5_000)
    expect(world.asked).toHaveLength(asked + 1)
  })

  test('misfit: the whole zone is asked for', async () => {
    const world = new World(0, { soa: { serial: 1, ...timers }, isExpired: false })
    world.serials.set(53, 2)
    world.fault = { is: 'misfit', reason: 'www A is not as it was there' }
    await world.started()
    expect(world.asked.map(({ question }) => question.wants)).toEqual(['changes', 'whole'])
    expect(world.follower.status()).toMatchObject({ state: 'current', serial: 2 })
  })
})

test('a zone that never came is asked for ever less often', async () => {
  const world = new World()
  world.serials.set(53, undefined)
  await world.started()
  await world.pass(2_000)
  await world.pass(4_000)
  expect(world.follower.status()).toMatchObject({
    state: 'failing',
    failures: 3,
    serial: undefined,
  })
  expect(world.follower.status().error).toBe(
    '192.0.2.53 port 53 refuses the connection; 198.51.100.53 port 5353 refuses the connection',
  )
  await world.follower.stop()
  const { waiting } = world.time
  expect(waiting).toBe(0)
})

describe('two control nodes follow one zone', () => {
  const zoneAt = (serial: number): StoredZone => ({ soa: { serial, ...timers }, isExpired: false })

  /** The second reaches no primary server. */
  async function pair(stored: StoredZone): Promise<readonly [World, World]> {
    const near = new World(0, stored)
    const far = new World(0, undefined, near.shared)
    far.serials.set(53, undefined)
    near.serials.set(53, stored.soa.serial)
    await near.started()
    await far.started()
    return [near, far]
  }

  test('one that is cut off marks the zone once in the time of `expire`', async () => {
    const [near, far] = await pair(zoneAt(1))
    const days = 10
    for (let i = 0; i < days * 144; i++) await near.pass(600_000)
    expect(far.marks.every((isExpired) => isExpired)).toBe(true)
    expect(far.marks.length).toBeGreaterThanOrEqual(days - 1)
    expect(far.marks.length).toBeLessThanOrEqual(days)
    expect(near.marks).toEqual(far.marks.map(() => false))
    expect(near.stored?.isExpired).toBe(false)
    expect(near.follower.status().state).toBe('current')
    expect(far.follower.status().state).toBe('failing')
  }, 20_000)

  test.each([
    [false, 60_000],
    [true, 3_600_000],
    [true, 60 * 86_400_000],
  ])(
    'whether it ends (%j) where a contact is noted %d ms in the future',
    async (ends, ms) => {
      const [near] = await pair(zoneAt(1))
      near.serials.set(53, undefined)
      for (let i = 0; i < 150; i++) {
        near.shared.contactMs = near.time.clock.nowMs() + ms
        await near.pass(600_000)
      }
      expect(near.stored?.isExpired).toBe(ends)
    },
    20_000,
  )

  test('one that is cut off marks nothing where it is told of contacts', async () => {
    const [near, far] = await pair(zoneAt(1))
    near.shared.contactMs = near.contactAtMs
    for (let i = 0; i < 10 * 144; i++) await near.pass(600_000)
    expect(far.marks).toEqual([])
    expect(far.follower.status().state).toBe('failing')
    // Where nobody reaches a primary server, the zone ends as it would for one node.
    near.serials.set(53, undefined)
    const heardMs = near.contactAtMs
    for (let i = 0; i < 150 && !near.stored!.isExpired; i++) await near.pass(600_000)
    const sinceMs = near.time.clock.nowMs() - heardMs
    expect(sinceMs).toBeGreaterThanOrEqual(86_400_000)
    expect(sinceMs).toBeLessThanOrEqual(86_400_000 + 600_000)
  }, 20_000)

  test('a primary server that is heard takes the mark back, whatever it offers', async () => {
    const [near] = await pair(zoneAt(1))
    near.fault = { is: 'held', reason: 'it removes too much' }
    near.serials.set(53, 2)
    await near.pass(3_600_000)
    expect(near.follower.status()).toMatchObject({ state: 'held', serial: 1, offered: 2 })
    near.shared.commit({ ...zoneAt(1), isExpired: true })
    await near.pass(1_000)
    expect(near.marks).toEqual([false])
    expect(near.follower.status()).toMatchObject({ state: 'held', serial: 1, offered: 2 })
  })

  const overtaken: readonly [string, number, PrimaryQuestion['wants']][] = [
    ['a newer serial', 4, 'changes'],
    ['the same serial', 3, 'changes'],
    ['a serial between', 2, 'changes'],
    ['a newer serial', 4, 'whole'],
    ['the same serial', 3, 'whole'],
  ]
  test.each(overtaken)(
    'the other writes %s (%i) during a transfer: %s',
    async (_, other, wants) => {
      const world = wants === 'whole' ? new World() : new World(0, zoneAt(1))
      world.serials.set(53, 3)
      world.meanwhile = {
        asks: () => {
          world.meanwhile = {}
          world.shared.commit(zoneAt(other))
          if (other === 4) world.serials.set(53, 4)
        },
      }
      await world.started()
      expect(world.taken).toEqual([])
      expect(world.stored).toEqual(zoneAt(other))
      await world.pass(250)
      const isBetween = other === 2
      const serial = Math.max(3, other)
      expect(world.follower.status()).toMatchObject({ state: 'current', serial, error: '' })
      expect(world.taken).toHaveLength(isBetween ? 1 : 0)
    },
  )

  test('a zone that is sent with an older serial than was told is not taken', async () => {
    const world = new World(0, zoneAt(5))
    world.serials.set(53, 6)
    world.sent = 4
    await world.started()
    expect(world.taken).toEqual([])
    expect(world.follower.status().error).toContain('has the serial 4, which is before 5 here')
  })

  const lost: readonly TakeFault['is'][] = ['refused', 'held', 'later']
  test.each(lost)(
    'the one that loses a write (%s) is well as soon as the zone is here',
    async (is) => {
      const world = new World()
      world.fault = { is, reason: 'There is a Records named example.com-transferred already.' }
      world.meanwhile = { writes: () => world.shared.commit(zoneAt(1)) }
      await world.started()
      await world.pass(250)
      expect(world.asked).toHaveLength(2)
      expect(world.follower.status()).toMatchObject({ state: 'current', serial: 1, error: '' })
      expect(world.follower.status().offered).toBeUndefined()
    },
  )

  test.each(lost)('the same where it hears of that commit later: %s', async (is) => {
    const world = new World()
    world.fault = { is, reason: 'There is a Records named example.com-transferred already.' }
    await world.started()
    await world.pass(1_000)
    world.shared.commit(zoneAt(1))
    await world.pass(5_000)
    expect(world.follower.status()).toMatchObject({ state: 'current', serial: 1, error: '' })
    expect(world.follower.status().offered).toBeUndefined()
  })
})

test('a follower that ends while it hears of others marks nothing', async () => {
  const world = new World(0, { soa: { serial: 1, ...timers }, isExpired: false })
  world.serials.clear()
  world.meanwhile = { hears: () => void world.follower.stop() }
  await world.started()
  await world.pass(2 * 86_400_000)
  expect(world.marks).toEqual([])
})

test('what comes after the end of a follower is not taken', async () => {
  const world = new World()
  let isStopped = false
  world.meanwhile = { asks: () => void world.follower.stop().then(() => (isStopped = true)) }
  await world.started()
  expect(world.asked).toHaveLength(1)
  expect(world.stopSignal?.aborted).toBe(true)
  expect(isStopped).toBe(true)
  expect(world.taken).toEqual([])
  expect(world.time.waiting).toBe(0)
})

describe('what people have written is put back with the whole zone', () => {
  const stored = { soa: { serial: 5, ...timers }, isExpired: false }
  const made = async (serial: number, fault?: TakeFault) => {
    const world = new World(0, stored)
    world.serials.set(53, serial)
    world.isWritten = true
    world.fault = fault
    await world.started()
    return world
  }

  test.each([
    ['the same serial', 5],
    ['a newer one', 6],
  ])('%s', async (_, serial) => {
    const world = await made(serial)
    expect(world.asked.map(({ question }) => question.wants)).toEqual(['anew'])
    expect(world.follower.status()).toMatchObject({ state: 'current', serial, transfers: 1 })
    await world.pass(3_600_000)
    expect(world.asked.at(-1)?.question.wants).toBe('changes')
    expect(world.follower.status()).toMatchObject({ state: 'current', serial, transfers: 1 })
  })

  test('an older serial is not taken', async () => {
    const world = await made(4)
    expect(world.taken).toEqual([])
    expect(world.follower.status()).toMatchObject({ state: 'failing', serial: 5 })
  })

  test.each(['held', 'refused'] as const)('it stays %s, and comes once', async (is) => {
    const world = await made(5, { is, reason: 'too much' })
    for (let i = 0; i < 3; i++) await world.pass(3_600_000)
    expect(world.asked.map(({ question }) => question.refused)).toEqual([undefined, 5, 5, 5])
    expect(world.follower.status()).toMatchObject({ state: is, offered: 5, error: 'too much' })
    world.isWritten = false
    world.fault = undefined
    await world.pass(3_600_000)
    expect(world.follower.status()).toMatchObject({ state: 'current', offered: undefined })
  })

  test('what cannot be written now is asked for again after seconds', async () => {
    const world = await made(5, { is: 'later', reason: 'busy' })
    expect(world.follower.status()).toMatchObject({ state: 'failing', error: 'busy' })
    world.fault = undefined
    await world.pass(4_000)
    expect(world.asked).toHaveLength(1)
    await world.pass(1_000)
    expect(world.follower.status()).toMatchObject({ state: 'current', transfers: 1 })
  })
})
