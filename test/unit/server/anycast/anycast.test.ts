// The routes of a node over time: what the BGP daemon is told, and when.
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Anycast } from '#server/anycast/anycast.ts'
import type { AnycastParts } from '#server/anycast/anycast.ts'
import type { AnycastDriver } from '#server/anycast/driver.ts'
import { err, ok } from '#lib/result.ts'
import { FakeTime } from '#test/support/fake-time.ts'

const settings: AnycastParts['settings'] = {
  ...{ addresses: ['192.0.2.1'], intervalMs: 1_000, rise: 2, fall: 2, holdDownMs: 5_000 },
  ...{ maxBundleAgeMs: 60_000, drainMs: 4_000 },
}

/** A daemon that remembers what it is told. */
class Scene implements AnycastDriver {
  readonly time = new FakeTime(Date.UTC(2026, 10, 1))
  /** `enable` and `disable` as `+` and `-`. */
  told = ''
  announces: 'all' | 'none' | null = 'none'
  isAway = false
  fault: string | null = null
  issuedAtMs: number | null = this.time.clock.nowMs()
  readonly lines: string[] = []
  readonly anycast: Anycast

  constructor(takesOver = false) {
    const write = (level: string) => (_fields: object, message: string) =>
      void this.lines.push(`${level}: ${message}`)
    this.anycast = new Anycast({
      ...{ settings, driver: this, takesOver },
      issuedAtMs: () => this.issuedAtMs,
      askSelf: async () => ({ fault: this.fault, tookMs: 1 }),
      ...{ clock: this.time.clock, after: this.time.after },
      log: { info: write('info'), warn: write('warn'), error: write('error') },
    })
  }

  announce = () => this.#say('+', 'all')
  withdraw = () => this.#say('-', 'none')
  look = async () =>
    this.isAway ? err('away') : ok({ announces: this.announces, text: `${this.announces}` })

  async #say(mark: string, announces: 'all' | 'none') {
    if (this.isAway) return err('away')
    this.told += mark
    if (this.announces !== null) this.announces = announces
    return ok({ announces: this.announces, text: announces })
  }

  async seconds(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      this.time.pass(1_000)
      if (this.issuedAtMs !== null) this.issuedAtMs += 1_000
      await this.idle()
    }
  }

  /** All that waits for nothing but this thread is done. */
  async idle(): Promise<void> {
    for (let i = 0; i < 3; i++) await setImmediate()
  }

  async started(): Promise<this> {
    this.anycast.start()
    await this.seconds(3)
    return this
  }
}

test('routes are withdrawn first, announced after an answer, and logged once', async () => {
  const scene = await new Scene().started()
  await scene.seconds(20)
  expect(scene.told).toBe('-+')
  expect(scene.anycast.status()).toMatchObject({
    ...{ isAnnounced: true, reason: null, silentLooks: 0 },
    driver: { isReachable: true, announces: 'all', reply: 'all' },
    counts: { announced: 1, withdrawn: 1, silent: 0, driverFaults: 0 },
  })
  expect(scene.lines).toEqual([
    'info: the addresses are withdrawn: it has not answered yet',
    'info: the addresses are announced',
  ])
})

test('silence withdraws, with its reason; answers announce again after the hold-down', async () => {
  const scene = await new Scene().started()
  scene.fault = 'no answer'
  await scene.seconds(2)
  expect(scene.told).toBe('-+-')
  expect(scene.anycast.status()).toMatchObject({
    ...{ isAnnounced: false, reason: 'silent', selfQuery: { fault: 'no answer' } },
  })
  expect(scene.lines.at(-1)).toContain('its own queries are not answered')
  scene.fault = null
  await scene.seconds(4)
  expect(scene.told).toBe('-+-')
  await scene.seconds(2)
  expect(scene.told).toBe('-+-+')
})

test('a bundle that nobody confirms any more withdraws, and so does none', async () => {
  const scene = await new Scene().started()
  scene.issuedAtMs = scene.time.clock.nowMs() - 60_001
  await scene.seconds(1)
  expect(scene.anycast.status().reason).toBe('bundle-old')
  scene.issuedAtMs = null
  await scene.seconds(1)
  expect(scene.anycast.status().reason).toBe('no-bundle')
  expect(scene.told).toBe('-+-')
})

test('a daemon that is away is tried ever less often, and told when it is back', async () => {
  const scene = new Scene()
  scene.isAway = true
  await scene.started()
  await scene.seconds(60)
  const { counts, driver } = scene.anycast.status()
  expect(driver).toMatchObject({ isReachable: false, reply: 'away' })
  expect(counts.driverFaults).toBeLessThan(15)
  expect(scene.lines).toEqual(['error: the BGP daemon cannot be told; answers go on: away'])
  scene.isAway = false
  await scene.seconds(11)
  expect(scene.told).toBe('+')
})

test('a daemon that was started again, or told otherwise, is told anew', async () => {
  const scene = await new Scene().started()
  scene.announces = 'none'
  await scene.seconds(1)
  expect(scene.told).toBe('-++')
  expect(scene.lines.at(-1)).toContain('has changed the routes: it is told again')
  expect(scene.anycast.status().counts.overruled).toBe(1)
})

test('a daemon that cannot be asked is instructed again every ten seconds', async () => {
  const scene = new Scene()
  scene.announces = null
  await scene.started()
  await scene.seconds(25)
  expect(scene.told).toBe('-+++')
})

test('a drain withdraws at once, waits for the routers, and announces no more', async () => {
  const scene = await new Scene().started()
  let isDrained = false
  const drained = scene.anycast.drain().then(() => (isDrained = true))
  await scene.idle()
  expect(scene.told).toBe('-+-')
  expect(scene.anycast.status().reason).toBe('draining')
  await scene.seconds(3)
  expect(isDrained).toBe(false)
  await scene.seconds(1)
  await drained
  await scene.seconds(10)
  expect(scene.told).toBe('-+-')
})

test('a drain tries again while the daemon is away, and ends all the same', async () => {
  const scene = await new Scene().started()
  scene.isAway = true
  const drained = scene.anycast.drain()
  await scene.seconds(2)
  expect(scene.told).toBe('-+')
  scene.isAway = false
  await scene.seconds(1)
  expect(scene.told).toBe('-+-')
  await scene.seconds(4)
  await drained
  const other = await new Scene().started()
  other.isAway = true
  const given = other.anycast.drain()
  await other.seconds(5)
  await given
})

test('routes that are not announced need no time to drain', async () => {
  const scene = new Scene()
  scene.issuedAtMs = null
  await scene.started()
  await scene.anycast.drain()
  expect(scene.told).toBe('-')
})

test('a process that takes over withdraws nothing, and leaves its routes to the next', async () => {
  const scene = await new Scene(true).started()
  expect(scene.told).toBe('+')
  await scene.anycast.pause()
  scene.fault = 'no answer'
  await scene.seconds(10)
  expect(scene.told).toBe('+')
})
