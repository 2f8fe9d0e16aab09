import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { MemberModel } from '#bundle/format/model.ts'
import { orderEveryMs } from '#server/node/health-link.ts'
import { createHealthView } from '#health/view/view.ts'
import { createMemoryHealthSignals } from '#state/memory/health-signals.ts'
import { createMemoryHealthVerdicts } from '../../../support/memory-health-verdicts.ts'
import { simulatedMonitor } from '../../health/simulated-monitor.ts'
import { bundleOf, pool, uid, zone } from '../../../support/bundle-models.ts'
import { bundleWith, check, LinkedNode } from '../linked-node.ts'

type Parts = Partial<MemberModel>
const [a, b] = ['192.0.2.1', '192.0.2.2']

test('checks that the last bundle had are not parsed again', async () => {
  const node = new LinkedNode(await simulatedMonitor())
  const parse = vi.spyOn(JSON, 'parse')
  onTestFinished(() => {
    parse.mockRestore()
  })
  /** @returns how many checks serving pools that are probed at these ports has read */
  const readsOf = (ports: readonly number[]): number => {
    const pools = ports.map((port, i) => {
      return pool(1 + i, [`192.0.2.${1 + i}`], { healthCheck: { ...check, port } })
    })
    const bundle = bundleOf({ zones: [zone('test.')], pools })
    parse.mockClear()
    node.install(bundle)
    return parse.mock.calls.filter(([text]) => text.includes('intervalMs')).length
  }
  expect(readsOf([1, 2, 3, 3])).toBe(3)
  expect(readsOf([1, 2, 3, 3])).toBe(0)
  expect(readsOf([3, 2, 1, 4])).toBe(1)
  expect(readsOf([4])).toBe(0)
  // What nobody asked for the last time is forgotten.
  expect(readsOf([4, 1])).toBe(1)
})

test('a check of type script that this node may not run is as none', async () => {
  const simulated = await simulatedMonitor()
  const node = new LinkedNode(simulated)
  const script = { healthCheck: { ...check, type: 'script' as const, scriptContent: 'exit 1' } }
  node.install(bundleWith({ [a]: {} }, script))
  // A gate would never open.
  expect(node.install(bundleWith({ [a]: {}, [b]: { warmupThreshold: 3 } }, script))).toBe('--')
  node.walk(60_000)
  expect(node.standings).toBe('cc')
  // Nobody was probed, so that nobody counts as checked.
  const probes = Object.values(simulated.monitor.stats().probes)
  const ran = probes.flatMap((counts) => Object.values(counts)).reduce((sum, one) => sum + one, 0)
  expect(ran).toBe(0)
  expect(simulated.monitor.healthOf(uid(1), a)).toBeUndefined()
  node.install(bundleWith({ [a]: {} }))
  node.walk(60_000)
  expect(simulated.monitor.stats().probes.tcp.success).toBeGreaterThan(0)
})

describe('the warm-up gate', () => {
  const gated = { warmupThreshold: 3 }

  test('is no gate for the members of the first bundle', async () => {
    const node = new LinkedNode(await simulatedMonitor())
    expect(node.install(bundleWith({ [a]: gated }))).toBe('-')
    expect(node.standings).toBe('c')
  })

  const arrivals: readonly [
    string,
    before: Record<string, Parts>,
    after: Record<string, Parts>,
    warming: string,
  ][] = [
    ['a new member warms up', { [a]: {} }, { [a]: {}, [b]: gated }, '-w'],
    ['a new member without a threshold does not', { [a]: {} }, { [a]: {}, [b]: {} }, '--'],
    [
      'one that is enabled again warms up',
      { [a]: { ...gated, enabled: false } },
      { [a]: gated },
      'w',
    ],
    ['one that gets a threshold while in rotation stays in', { [a]: {} }, { [a]: gated }, '-'],
    [
      'one that is new and disabled waits',
      { [a]: {} },
      { [a]: {}, [b]: { ...gated, enabled: false } },
      '--',
    ],
  ]
  test.each(arrivals)('%s', async (_title, before, after, warming) => {
    const node = new LinkedNode(await simulatedMonitor())
    node.install(bundleWith(before))
    node.walk(60_000)
    expect(node.install(bundleWith(after))).toBe(warming)
    node.walk(1)
    expect(node.standings.replaceAll(/[^w]/g, '-')).toBe(warming)
    node.walk(60_000)
    expect(node.standings).not.toContain('w')
  })

  test('a member whose pool gets another uid has passed its gate before', async () => {
    const node = new LinkedNode(await simulatedMonitor())
    node.install(bundleWith({ [a]: gated, [b]: gated }))
    node.walk(60_000)
    node.install(bundleWith({ [a]: gated, [b]: gated }, { uid: uid(0x1fff) }))
    expect(node.standings).toBe('cc')
    node.walk(60_000)
    expect(node.standings).toBe('cc')
  })

  test('is passed after so many probes, and a failure starts it anew', async () => {
    const simulated = await simulatedMonitor()
    const node = new LinkedNode(simulated)
    node.install(bundleWith({ [a]: {} }))
    node.install(bundleWith({ [a]: {}, [b]: gated }))
    node.walk(21_000)
    expect(node.standings).toBe('cw')
    node.outcomes.set(b, 'failure')
    node.walk(10_500)
    node.outcomes.set(b, 'success')
    node.walk(20_000)
    expect(node.standings).toBe('cw')
    node.walk(11_000)
    expect(node.standings).toBe('cc')
  })

  const edits: readonly [string, Parts][] = [
    ['weight', { weight: 7 }],
    ['priority', { priority: 2 }],
    ['region', { region: 'DE' }],
    ['name', { name: 'other' }],
  ]
  test.each(edits)('keeps its counter over a change of the %s', async (_title, change) => {
    const [edited, untouched] = await Promise.all([simulatedMonitor(), simulatedMonitor()])
    const opened = [edited, untouched].map((simulated, i) => {
      const node = new LinkedNode(simulated)
      node.install(bundleWith({ [a]: {} }))
      node.install(bundleWith({ [a]: {}, [b]: gated }))
      node.walk(15_000)
      if (i === 0) node.install(bundleWith({ [a]: {}, [b]: { ...gated, ...change } }))
      let waitedMs = 0
      while (node.standings === 'cw') node.walk((waitedMs += 10) && 10)
      return waitedMs
    })
    expect(opened[0]).toBe(opened[1])
    expect(opened[0]).toBeGreaterThan(5_000)
  })

  test('goes with the check, and with the threshold', async () => {
    for (const after of [
      bundleWith({ [a]: {}, [b]: gated }, { healthCheck: null }),
      bundleWith({ [a]: {}, [b]: {} }),
    ]) {
      const node = new LinkedNode(await simulatedMonitor())
      node.install(bundleWith({ [a]: {} }))
      node.install(bundleWith({ [a]: {}, [b]: gated }))
      expect(node.standings).toBe('cw')
      expect(node.install(after)).toBe('--')
      node.walk(30_000)
      expect(node.standings).toBe('cc')
    }
  })

  test('does not count toward minHealthy until it is passed', async () => {
    const node = new LinkedNode(await simulatedMonitor())
    node.install(bundleWith({ [a]: {} }, { minHealthy: 1 }))
    node.install(bundleWith({ [a]: {}, [b]: gated }, { minHealthy: 2 }))
    expect(node.listed).toEqual([])
    node.walk(60_000)
    expect(node.listed).toEqual([0, 1])
  })

  test('is remembered over a restart where it was not passed, and only there', async () => {
    const verdicts = createMemoryHealthVerdicts()
    const first = await simulatedMonitor(1, verdicts)
    const before = new LinkedNode(first)
    before.install(bundleWith({ [a]: gated }))
    before.install(bundleWith({ [a]: gated, [b]: gated }))
    before.walk(12_000)
    expect(before.standings).toBe('cw')
    await first.monitor.stop()

    const second = await simulatedMonitor(2, verdicts)
    const after = new LinkedNode(second)
    after.install(bundleWith({ [a]: gated, [b]: gated }))
    expect(after.standings).toBe('cw')
    // Its passes are not remembered: three more are wanted.
    after.walk(19_000)
    expect(after.standings).toBe('cw')
    after.walk(15_000)
    expect(after.standings).toBe('cc')
    await second.monitor.stop()

    const third = new LinkedNode(await simulatedMonitor(3, verdicts))
    third.install(bundleWith({ [a]: gated, [b]: gated }))
    expect(third.standings).toBe('cc')
  })
})

describe('the routing state', () => {
  test('hears of scores, and lists the better member first', async () => {
    const simulated = await simulatedMonitor()
    const node = new LinkedNode(simulated)
    let probes = 0
    node.install(bundleWith({ [a]: {}, [b]: {} }, { healthCheck: { ...check, scoreWindow: 4 } }))
    simulated.world.answer = ({ ipAddress }) => ({
      outcome: ipAddress === a && probes++ % 2 === 0 ? 'failure' : 'success',
      afterMs: 10,
    })
    node.walk(120_000)
    expect([...node.state.memberScore]).toEqual([0.5, 1])
    expect(node.standings).toBe('cc')
    expect(node.listed).toEqual([1, 0])
  })

  test('sorts a pool a moment after a score has changed, and once', async () => {
    const simulated = await simulatedMonitor()
    const node = new LinkedNode(simulated)
    let probes = 0
    node.install(bundleWith({ [a]: {}, [b]: {} }, { healthCheck: { ...check, scoreWindow: 8 } }))
    simulated.world.answer = ({ ipAddress }) => ({
      outcome: ipAddress === a && probes++ % 3 === 0 ? 'failure' : 'success',
      afterMs: 10,
    })
    let changes = 0
    for (let i = 0; i < 12_000; i++) {
      const [scores, standings, { builds }] = [node.state.memberScore.join(), node.standings, node]
      node.walk(10)
      if (node.state.memberScore.join() === scores || node.standings !== standings) continue
      changes++
      expect(node.builds).toBe(builds)
      node.walk(orderEveryMs)
      expect(node.builds).toBe(builds + 1)
    }
    expect(changes).toBeGreaterThan(2)
  })

  test('hears of round trip times after three probes', async () => {
    const node = new LinkedNode(await simulatedMonitor())
    node.install(bundleWith({ [a]: {}, [b]: {} }))
    node.outcomes.set(b, 'failure')
    node.walk(19_000)
    expect([...node.state.memberRttMs]).toEqual([0, 0])
    node.walk(20_000)
    expect([...node.state.memberRttMs]).toEqual([10, 0])
    node.install(bundleWith({ [a]: {}, [b]: {} }, { healthCheck: null }))
    expect([...node.state.memberRttMs]).toEqual([0, 0])
  })
})

describe('signals of outside monitors', () => {
  const uidOfB = '00000000-0000-4000-8000-000000000002'
  const silent = (): void => undefined
  const log = { info: silent, warn: silent, error: silent }

  async function withSignals() {
    const simulated = await simulatedMonitor(1, undefined, false)
    const { world, monitor: local } = simulated
    const signals = createMemoryHealthSignals(world.clock)
    const { clock, after } = world
    const parts = { local, signals, peers: null, policy: 'local-only' as const }
    const view = createHealthView({ ...parts, quorumMinPercent: 51, clock, after, log })
    const node = new LinkedNode(simulated, view)
    view.start()
    const post = (healthy: boolean, ttlSeconds = 300, memberUid = uidOfB) => {
      const postedAtMs = clock.nowMs()
      const expiresAtMs = postedAtMs + ttlSeconds * 1_000
      return signals.post({
        memberUid,
        source: 'pager',
        healthy,
        score: null,
        postedAtMs,
        expiresAtMs,
      })
    }
    return { node, post }
  }

  test('take a member out at once, and give it back when they end', async () => {
    const { node, post } = await withSignals()
    node.install(bundleWith({ [a]: {}, [b]: {} }))
    await post(false)
    expect(node.standings).toBe('c-')
    node.walk(299_999)
    expect(node.standings).toBe('c-')
    node.walk(1)
    expect(node.standings).toBe('cc')
  })

  test('reach members of a pool that nobody probes', async () => {
    const { node, post } = await withSignals()
    node.install(bundleWith({ [a]: {}, [b]: {} }, { healthCheck: null }))
    await post(false)
    expect(node.standings).toBe('c-')
    await post(true)
    expect(node.standings).toBe('cc')
  })

  test('hold over a swap, under the mode that the new bundle says', async () => {
    const { node, post } = await withSignals()
    await post(false)
    const bundles: readonly [Parts, string][] = [
      [{}, 'c-'],
      [{ externalSignalMode: 'or' }, 'cc'],
      [{ externalSignalMode: 'override', weight: 3 }, 'c-'],
      [{ ipAddress: '192.0.2.9' }, 'c-'],
    ]
    for (const [parts, standings] of bundles) {
      node.install(bundleWith({ [a]: {}, [b]: parts }))
      expect(node.standings).toBe(standings)
    }
  })

  test('blend with what the probes find, either of them changing', async () => {
    const modes: readonly [Parts['externalSignalMode'] & string, string][] = [
      ['and', '-'],
      ['or', 'c'],
      ['override', 'c'],
    ]
    for (const [externalSignalMode, standing] of modes) {
      const { node, post } = await withSignals()
      node.install(bundleWith({ [a]: {}, [b]: { externalSignalMode } }))
      await post(true, 3_600)
      node.outcomes.set(b, 'failure')
      node.walk(11_000)
      expect(node.standings).toBe(`c${standing}`)
      node.walk(3_600_000)
      expect(node.standings).toBe('c-')
    }
  })

  test('about nobody, or about no uid, change nothing', async () => {
    const { node, post } = await withSignals()
    node.install(bundleWith({ [a]: {}, [b]: {} }))
    await post(false, 300, '00000000-0000-4000-8000-000000000099')
    await post(false, 300, 'not a uid')
    // These octets are in the column, but not where a uid begins.
    await post(false, 300, '01000000-0000-0040-0080-000000000000')
    expect(node.standings).toBe('cc')
  })
})
