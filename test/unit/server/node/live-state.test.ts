// A rollout is taken back because of what outside monitors say, and soon.
import { expect, test } from 'vitest'
import { createRoutingState } from '#routing/state/candidates.ts'
import { createHealthView } from '#health/view/view.ts'
import { LiveState } from '#server/node/live-state.ts'
import { tickMs } from '#server/node/overlay-clock.ts'
import { createMemoryHealthSignals } from '#state/memory/health-signals.ts'
import { bundleOf, uid } from '../../../support/bundle-models.ts'
import { FakeTime } from '../../../support/fake-time.ts'
import {
  maintenance,
  modelWith,
  noonMs,
  rollout,
  rotationOf,
} from '../../../support/overlay-node.ts'
import { simulatedMonitor } from '../../health/simulated-monitor.ts'

const silent = (): void => undefined
const log = { info: silent, warn: silent, error: silent }

async function rolledOut() {
  const { world, monitor: local } = await simulatedMonitor(1, undefined, false)
  const { clock, after } = world
  const signals = createMemoryHealthSignals(clock)
  const view = { local, signals, peers: null, policy: 'local-only', quorumMinPercent: 51 } as const
  const health = createHealthView({ ...view, clock, after, log })
  const live = new LiveState({ resolver: null, health, clock, after, log })
  const regressionPolicy = { ...rollout().regressionPolicy, minHealthyMembers: 2 }
  const bundle = bundleOf(
    modelWith({ rollouts: [rollout({ startAtMs: clock.nowMs(), regressionPolicy })] }),
  )
  const state = createRoutingState(bundle, 1)
  health.start()
  live.prepare(bundle, state)
  live.serve(bundle, state)
  return {
    world,
    shown: () => {
      const [first] = live.overlays().rollouts
      return `${first!.state} ${rotationOf(bundle, state, 0)}`
    },
    say: (memberUid: string, healthy: boolean) => {
      const postedAtMs = clock.nowMs()
      const expiresAtMs = postedAtMs + 60_000
      const word = { memberUid, source: 'pager', healthy, score: null }
      return signals.post({ ...word, postedAtMs, expiresAtMs })
    },
  }
}

const running = 'running 192.0.2.1*4 192.0.2.2*40'

test('a signal that leaves too few members ends the rollout before the next tick', async () => {
  const { world, shown, say } = await rolledOut()
  world.walk(10)
  expect(shown()).toBe(running)
  await say(uid(2), false)
  world.walk(1)
  expect(shown()).toBe('rolled_back 192.0.2.1*40')
  // What is taken back stays so when the member is well again.
  await say(uid(2), true)
  world.walk(tickMs)
  expect(shown()).toBe('rolled_back 192.0.2.1*40 192.0.2.2*40')
})

test.each([
  ['that a member is healthy', uid(2), true],
  ['of a member that is not there', uid(9), false],
])('a signal %s ends nothing', async (_what, memberUid, healthy) => {
  const { world, shown, say } = await rolledOut()
  await say(memberUid, healthy)
  world.walk(tickMs)
  expect(shown()).toBe(running)
})

test('a journal is told of each step of a rollout and each end of a window, when it comes', () => {
  const time = new FakeTime(noonMs - 10_000)
  const told: string[] = []
  const live = new LiveState({
    ...{ health: null, resolver: null, clock: time.clock, after: time.after, log },
    journal: {
      poolChanged: (of, changedPool, isBuilt) => {
        const after = time.clock.nowMs() - noonMs
        told.push(`${after} ${changedPool} ${isBuilt} ${rotationOf(bundle, of, 0)}`)
      },
    },
  })
  const window = maintenance({ member: 1, startAtMs: noonMs + 1_000, endAtMs: noonMs + 31_000 })
  const bundle = bundleOf(modelWith({ rollouts: [rollout()], windows: [window] }))
  const state = createRoutingState(bundle, 1)
  live.prepare(bundle, state)
  live.serve(bundle, state)
  told.length = 0
  time.passTo(noonMs + 61_000)
  live.stop()
  expect(told).toEqual([
    '0 0 true 192.0.2.1*4 192.0.2.2*40',
    '1000 0 true 192.0.2.1*4',
    '31000 0 true 192.0.2.1*4 192.0.2.2*40',
    '60000 0 true 192.0.2.1*20 192.0.2.2*40',
  ])
})
