// Writes that wait for their plan at the same time: planned as one change, judged as strictly.
import { expect, test } from 'vitest'
import { MovedGuard } from '#node/plan/moved-guard.ts'
import { togetherLimits } from '#node/plan/planned-together.ts'
import { ConfigIndex } from '#config/object-index.ts'
import type { ConfigWriter, Operation, WriteFailureCode, WriteRequest } from '#config/operation.ts'
import { gitLimits } from '#gitops/limits.ts'
import { err, ok } from '#lib/result.ts'
import { FakeTime } from '#test/support/fake-time.ts'

const told = { revision: 'c', isChanged: true, objects: [], warnings: [], affected: [] }
const uidOf = (one: Operation): string =>
  'target' in one && 'uid' in one.target ? one.target.uid : ''

/** Deletes pools, in a configuration that has none: no two requests have a name in common. */
const requestOf = (...uids: readonly string[]): WriteRequest => ({
  requestId: uids[0]!,
  actor: { name: 'user:1', address: 'user-1@users.gslbd' },
  operations: uids.map((uid) => ({ verb: 'delete', kind: 'Pool', target: { uid } })),
})

interface SceneParts {
  /** Percent of the clients that each pool moves; others move 1 %. */
  readonly moving?: Readonly<Record<string, number>>
  /** Refused, by pool. */
  readonly refused?: Readonly<Record<string, WriteFailureCode>>
  /** So many operations can be planned in time. */
  readonly plannedMax?: number
}

/** A guard of 50 %, whose plans end when they are let. */
function scene({ moving = {}, refused = {}, plannedMax = Infinity }: SceneParts) {
  const time = new FakeTime(0)
  const planned: string[] = []
  const made: string[] = []
  const warned: object[] = []
  let gate = Promise.withResolvers<undefined>()
  const writer: ConfigWriter = {
    write: async ({ operations, isDryRun, wantsEarlier }) => {
      if (wantsEarlier === true) return ok(told)
      const uids = operations.map((one) => uidOf(one))
      ;(isDryRun === true ? planned : made).push(uids.join(' '))
      if (isDryRun === true) await gate.promise
      for (const [operation, uid] of uids.entries()) {
        const code = refused[uid]
        if (code !== undefined) return err({ code, message: uid, operation, diagnostics: [] })
      }
      if (isDryRun !== true || uids.length > plannedMax) return ok(told)
      const percent = Math.max(...uids.map((uid) => moving[uid] ?? 1))
      const share = percent / 100
      const moved = [{ name: 'www.example.com.', tenant: 'acme', share }]
      return ok({ ...told, effect: `moved=${percent}%`, moved })
    },
  }
  const guard = new MovedGuard({
    ...{ writer, limits: () => ({ all: 50, tenants: new Map() }), clock: time.clock },
    movedFrom: async () => undefined,
    ...{ config: () => ConfigIndex.empty, log: { warn: (fields) => warned.push(fields) } },
  })
  const write = async (...uids: readonly string[]): Promise<string | undefined> => {
    const done = await guard.write(requestOf(...uids))
    return done.ok ? done.value.effect : done.error.code
  }
  /** The first is being planned while the others arrive. */
  const together = async (...pools: readonly string[]): Promise<readonly unknown[]> => {
    const first = write('first')
    const others = pools.map((pool) => write(pool))
    gate.resolve(undefined)
    expect(await first).toBe('moved=1%')
    return await Promise.all(others)
  }
  const close = (): void => void (gate = Promise.withResolvers())
  const open = (): void => gate.resolve(undefined)
  return { guard, time, planned, made, warned, write, together, close, open }
}

test('they are planned as one change, and each is made', async () => {
  const { together, planned, made } = scene({ moving: { b: 50 } })
  expect(await together('a', 'b', 'c')).toEqual(Array(3).fill('moved=permitted; together=3'))
  expect(planned).toEqual(['first', 'a b c'])
  expect(made).toEqual(['first', 'a', 'b', 'c'])
})

test('of those that move too many together, only the guilty are refused', async () => {
  const { together, planned, made } = scene({ moving: { c: 51 } })
  expect(await together('a', 'b', 'c', 'd')).toEqual([
    ...['moved=permitted; together=2', 'moved=permitted; together=2', 'guarded', 'moved=1%'],
  ])
  expect(planned).toEqual(['first', 'a b c d', 'a b', 'c d', 'c', 'd'])
  expect(made.sort()).toEqual(['a', 'b', 'd', 'first'])
})

test('one that cannot be made is set apart at once, and told what is wrong with it', async () => {
  const { together, planned } = scene({ refused: { b: 'not-found' } })
  const others = 'moved=permitted; together=3'
  expect(await together('a', 'b', 'c', 'd')).toEqual([others, 'not-found', others, others])
  expect(planned).toEqual(['first', 'a b c d', 'b', 'a c d'])
})

test('what is wrong with the repository is said of each, and found out once', async () => {
  const { together, planned } = scene({ refused: { b: 'unreachable' } })
  expect(await together('a', 'b')).toEqual(['unreachable', 'unreachable'])
  expect(planned).toEqual(['first', 'a b'])
})

test('where there is no time for many, each is planned alone, and the next are fewer', async () => {
  const { together, write, planned, warned, close, open } = scene({ plannedMax: 2 })
  expect(await together('a', 'b', 'c', 'd')).toEqual(Array(4).fill('moved=1%'))
  expect(planned).toEqual(['first', 'a b c d', 'a', 'b', 'c', 'd'])
  close()
  const next = ['e', 'f', 'g'].map((pool) => write(pool))
  open()
  expect(await Promise.all(next)).toEqual([
    ...['moved=1%', 'moved=permitted; together=2', 'moved=permitted; together=2'],
  ])
  expect(warned).toEqual([])
})

test('whoever wants the effect is planned alone, and told of the own request', async () => {
  const { guard, planned, open, write } = scene({ moving: { b: 20 } })
  const first = write('first')
  const others = ['a', 'b', 'c'].map((pool) =>
    guard.write({ ...requestOf(pool), ...(pool === 'b' ? { wantsEffect: true } : {}) }),
  )
  open()
  const together = 'moved=permitted; together=2'
  const told = (await Promise.all(others)).map((done) => done.ok && done.value.effect)
  expect([await first, ...told]).toEqual(['moved=1%', together, 'moved=20%', together])
  expect(planned).toEqual(['first', 'a c', 'b'])
})

test('one plan has so many requests and operations, and no more', async () => {
  const many = Array.from({ length: togetherLimits.requestsMax + 1 }, (_, i) => `p${i}`)
  const first = scene({})
  await first.together(...many)
  expect(first.planned).toEqual(['first', many.slice(0, -1).join(' '), many.at(-1)])
  const { planned, write, open } = scene({})
  const large = Array.from({ length: gitLimits.writeOperationsMax }, (_, i) => `o${i}`)
  const all = [write('first'), write('a'), write(...large), write('b')]
  open()
  await Promise.all(all)
  expect(planned).toEqual(['first', 'a b', large.join(' ')])
})

test('one that has waited too long is made without being judged, and it is said', async () => {
  const { time, write, planned, warned, open } = scene({ moving: { late: 90 } })
  const [first, late] = [write('first'), write('late')]
  time.pass(togetherLimits.waitMs + 1)
  const inTime = write('a')
  open()
  expect(await Promise.all([first, late, inTime])).toEqual([
    'moved=1%',
    'moved=unknown',
    'moved=1%',
  ])
  expect(planned).toEqual(['first', 'a'])
  expect(warned).toMatchObject([{ requestId: 'late', movedClients: 50 }])
})
