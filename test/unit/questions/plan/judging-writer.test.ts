// Writes that are planned: dry runs, those whose effect is wanted, and those not judged without.
import { expect, onTestFinished, test } from 'vitest'
import type { BundleModel } from '#bundle/format/model.ts'
import type { MoveLimits } from '#judge/guard/moved-limit.ts'
import type { CommitResult, WriteFailure, WriteRequest } from '#config/operation.ts'
import { err, ok } from '#lib/result.ts'
import { judgingLimits, JudgingWriter } from '#questions/plan/judging-writer.ts'
import { noRoutingTables } from '#routing/choose/environment.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import { bareModel, bundleOf, encode, pool, service, zone } from '#test/support/bundle-models.ts'
import { FakeTime } from '#test/support/fake-time.ts'

const now: BundleModel = {
  ...bareModel,
  zones: [zone('example.org.')],
  pools: [pool(1, ['192.0.2.1', '192.0.2.2', '192.0.2.3'])],
  services: [service(1, 'www.example.org.')],
}
const shrunk = encode({ ...now, pools: [pool(1, ['192.0.2.1', '192.0.2.2'])] }).bytes
const third = 'moved=33.3%; names=1; later=1'
const moved = [
  { name: 'www.example.org.', tenant: 'default', share: expect.closeTo(1 / 3) as number },
]

const request: WriteRequest = {
  requestId: 'r',
  actor: { name: 'user:1', email: 'ann@example.com', address: 'user-1@users.gslbd' },
  operations: [],
}
const dry = { ...request, isDryRun: true } as const
const telling = { ...request, effectFor: { tenant: null } } as const
const byNobody = { judgement: { by: 'nobody' } } as const
/** The dry run that gives what would answer. */
const planned = { isDryRun: true, wantsBundle: true, ...byNobody }
const byPlan = { judgement: { by: 'plan', moved } }

const told = { revision: 'c', isChanged: true, objects: [], warnings: [], affected: [] }
const failure = (code: WriteFailure['code'] | 'needs-plan'): CommitResult =>
  err({ code, message: code, operation: -1, diagnostics: [] })

interface SceneParts {
  /** Bundle that would answer. */
  readonly next?: Uint8Array
  readonly jobMs?: number
  readonly limits?: MoveLimits
  /** Left out: what is asked is done. undefined: it is done. */
  readonly judge?: (request: WriteRequest) => CommitResult | undefined
  /** Before the dry run gives what would answer. */
  readonly gate?: Promise<unknown>
  /** Dry runs change nothing. */
  readonly isSame?: true
  /** From which the node answers, one time after the other. */
  readonly commits?: string[]
}

const limited: MoveLimits = { movedClients: 30 }

function scene(parts: SceneParts = {}) {
  const { next = shrunk, jobMs, limits = limited, judge, gate, isSame, commits = [] } = parts
  const bundle = bundleOf(now)
  const state = createRoutingState(bundle, 1)
  const live = { bundle, state, tables: noRoutingTables, commit: 'c' }
  const asked: WriteRequest[] = []
  const warned: object[] = []
  const time = new FakeTime(0)
  const judging = new JudgingWriter({
    writer: {
      write: async (one) => {
        asked.push(one)
        if (one.wantsBundle === true) {
          await gate
          if (isSame) return ok({ ...told, isChanged: false })
          return ok({ ...told, bundle: next })
        }
        return judge?.(one) ?? ok(told)
      },
    },
    ...{
      limits: () => limits,
      node: () => ({ ...live, commit: commits.shift() ?? 'c' }),
      clock: time.clock,
    },
    log: { warn: (fields, text) => void warned.push({ ...fields, text }) },
    ...(jobMs === undefined ? {} : { jobMs }),
  })
  onTestFinished(() => judging.close())
  return { write: judging.write, asked, warned, time }
}

/** As a writer that cannot tell without a plan. */
const needsPlan = ({ judgement }: WriteRequest): CommitResult | undefined =>
  judgement === undefined ? failure('needs-plan') : undefined

test('a dry run tells its effect, and is done once', async () => {
  const { write, asked } = scene({ limits: { movedClients: 34 } })
  expect(await write(dry)).toEqual(ok({ ...told, effect: third }))
  expect(asked).toEqual([{ ...dry, ...planned }])
  // The same thread, and a change that moves nobody.
  expect(await write(dry)).toEqual(ok({ ...told, effect: third }))
})

test('a dry run that moves too many is judged by its plan', async () => {
  const refused = scene({ judge: () => failure('guarded') })
  expect(await refused.write(dry)).toEqual(failure('guarded'))
  expect(refused.asked).toEqual([
    { ...dry, ...planned },
    { ...dry, ...byPlan },
  ])
  const backTo = 'c0ffee0000'.repeat(4)
  const { write } = scene({ judge: () => ok({ ...told, backTo }) })
  const effect = `${third}; back=c0ffee0000`
  expect(await write(dry)).toMatchObject(ok({ effect }))
})

test('other writes are left alone, and so is one that its caller plans', async () => {
  const { write, asked } = scene()
  const own = { ...dry, wantsBundle: true, ...byNobody } as const
  expect(await write(request)).toEqual(ok(told))
  expect(await write(own)).toEqual(ok({ ...told, bundle: shrunk }))
  expect(asked).toEqual([request, own])
})

test('a write that goes back says so with the effect of its commit', async () => {
  const backTo = 'c0ffee0000'.repeat(4)
  const { write } = scene({ judge: () => ok({ ...told, effect: 'moved=90%', backTo }) })
  expect(await write(request)).toMatchObject(ok({ effect: 'moved=90%; back=c0ffee0000' }))
})

test('a bundle that does not load, or a plan that takes long, costs the header alone', async () => {
  for (const parts of [{ next: shrunk.subarray(0, 100) }, { jobMs: 0 }]) {
    expect(await scene(parts).write(dry)).toEqual(ok(told))
  }
})

test('a write that needs a plan is planned, and made with its result', async () => {
  const { write, asked, warned } = scene({ judge: needsPlan })
  expect(await write(telling)).toEqual(ok({ ...told, effect: third }))
  expect(asked).toEqual([
    telling,
    { ...telling, ...planned },
    { ...request, waitedMs: 0, ...byPlan },
  ])
  // The effect is told where it is wanted alone.
  expect(await write(request)).toEqual(ok(told))
  expect(warned).toEqual([])
})

test('a write that cannot be planned in time is made, and marked as not judged', async () => {
  const { write, asked, warned } = scene({ judge: needsPlan, jobMs: 0 })
  expect(await write(telling)).toEqual(ok({ ...told, effect: 'moved=unknown' }))
  expect(asked.at(-1)).toEqual({ ...request, waitedMs: 0, ...byNobody })
  const text = expect.stringContaining('without being judged by guardrails.movedClients') as string
  const fields = { requestId: 'r', actor: 'user:1', userEmail: 'ann@example.com', revision: 'c' }
  expect(warned).toEqual([{ ...fields, movedClients: 30, text }])
})

test('writes are planned one after the other, unless their turn comes too late', async () => {
  const gate = Promise.withResolvers<undefined>()
  const { write, asked, warned, time } = scene({ judge: needsPlan, gate: gate.promise })
  const [first, late] = ['first', 'late'].map((requestId) => write({ ...telling, requestId }))
  // Both are refused, and the first one is tried, before anything else is done.
  await new Promise(setImmediate)
  time.pass(judgingLimits.jobMs + 1)
  const inTime = write({ ...telling, requestId: 'in time' })
  gate.resolve(undefined)
  const effects = [third, 'moved=unknown', third].map((effect) => ok({ ...told, effect }))
  expect(await Promise.all([first, late, inTime])).toEqual(effects)
  const tried = asked.filter(({ wantsBundle }) => wantsBundle === true)
  expect(tried.map(({ requestId }) => requestId)).toEqual(['first', 'in time'])
  expect(warned).toMatchObject([{ requestId: 'late' }])
  const made = asked.filter(({ isDryRun, judgement }) => judgement !== undefined && !isDryRun)
  const waited = made.map(({ requestId, waitedMs = 0 }) => `${requestId} ${waitedMs}`)
  const lateMs = judgingLimits.jobMs + 1
  expect(waited.toSorted()).toEqual([`first ${lateMs}`, 'in time 0', `late ${lateMs}`])
})

test('a write judged by a plan does not wait behind dry runs, and is judged', async () => {
  const { write, warned } = scene({ judge: needsPlan })
  const looks = Array.from({ length: judgingLimits.waitingMax }, () => write(dry))
  expect(await write(telling)).toEqual(ok({ ...told, effect: third }))
  expect(warned).toEqual([])
  await Promise.all(looks)
})

test('a plan from another commit than its own is made once more', async () => {
  const { write, asked } = scene({ commits: ['b'], limits: { movedClients: 34 } })
  expect(await write(dry)).toEqual(ok({ ...told, effect: third }))
  expect(asked).toHaveLength(2)
  const other = scene({ commits: ['b', 'b'] })
  expect(await other.write(dry)).toEqual(ok({ ...told, effect: third }))
})

test('a write that others have made meanwhile needs no plan', async () => {
  const { write, asked } = scene({ isSame: true, judge: needsPlan })
  const same = { ...told, isChanged: false }
  expect(await write(telling)).toEqual(ok({ ...same, effect: 'moved=0%; names=0' }))
  expect(asked).toEqual([telling, { ...telling, ...planned }])
  expect(await write(request)).toEqual(ok(same))
})

test('without a limit it is planned for its effect alone, but not behind four others', async () => {
  const gate = Promise.withResolvers<undefined>()
  const free = {}
  const { write, asked, warned } = scene({ judge: needsPlan, gate: gate.promise, limits: free })
  const first = ['a', 'b', 'c', 'd'].map((requestId) => write({ ...telling, requestId }))
  await new Promise(setImmediate)
  const late = await write({ ...telling, requestId: 'e' })
  expect(late).toEqual(ok({ ...told, effect: 'moved=unknown' }))
  gate.resolve(undefined)
  for (const done of await Promise.all(first)) expect(done).toEqual(ok({ ...told, effect: third }))
  const tried = asked.filter(({ wantsBundle }) => wantsBundle === true)
  expect(tried.map(({ requestId }) => requestId)).toEqual(['a', 'b', 'c', 'd'])
  expect(warned).toEqual([])
})

test('an impossible write is refused as ever', async () => {
  const { write, asked } = scene({ judge: () => failure('not-found') })
  expect(await write(request)).toEqual(failure('not-found'))
  expect(asked).toEqual([request])
})
