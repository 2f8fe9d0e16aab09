// A script step as the answering thread sees it: what it believes, and what it costs.
import { once } from 'node:events'
import { getHeapStatistics } from 'node:v8'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Random } from '#lib/random.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import { Chain } from '#routing/chain/chain.ts'
import { scriptLimits, ScriptOutcome } from '#routing/script/contract.ts'
import { keepInOrder } from '#routing/script/reorder.ts'
import { Counters } from '#answer/counters/counters.ts'
import { ScriptClient } from '#answer/script/client.ts'
import { MailCell, Mailbox, strikesMax } from '#answer/script-mailbox.ts'
import { bundleOf, pool } from '#test/support/bundle-models.ts'
import type { EchoWork } from '#test/support/script-echo.ts'

const addresses = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4']
const bundle = bundleOf({ pools: [pool(1, addresses)] })

function chainOfFour(): Chain {
  const chain = new Chain(new Random(1))
  chain.adopt(bundle, createRoutingState(bundle, 1))
  chain.load(0, false)
  return chain
}

const membersOf = (chain: Chain): readonly number[] => [...chain.members.slice(0, chain.count)]

function sharedCopy(words: Uint32Array): SharedArrayBuffer {
  const shared = new SharedArrayBuffer(words.byteLength)
  new Uint32Array(shared).set(words)
  return shared
}

function clientOn(mailbox: SharedArrayBuffer) {
  const counters = new Counters(new SharedArrayBuffer(Counters.bytes))
  const client = new ScriptClient(mailbox, counters)
  const strikes = new Int32Array(new SharedArrayBuffer(4))
  const seatStarts = Uint32Array.of(0, 1)
  const [starts, scripts] = [sharedCopy(seatStarts), new SharedArrayBuffer(4)]
  const seats = { seatStarts: starts, seatScripts: scripts }
  client.adopt(1, { bodies: ['body'], ...seats, strikes: strikes.buffer })
  return { client, counters, strikes, script: client.compile('body') }
}

async function echo(work: Omit<EchoWork, 'mailbox'>) {
  const mailbox = new SharedArrayBuffer(Mailbox.bytes)
  const workerData: EchoWork = { ...work, mailbox }
  const url = new URL('../../../support/script-echo.ts', import.meta.url)
  const worker = new Worker(url, { workerData })
  onTestFinished(async () => void (await worker.terminate()))
  await once(worker, 'message')
  return clientOn(mailbox)
}

/** Until the machine lets the other thread answer in time. */
function runUntilAnswered(parts: ReturnType<typeof clientOn>, chain: Chain): void {
  const { client, counters, strikes, script } = parts
  const deadline = performance.now() + 60_000
  while (performance.now() < deadline) {
    strikes[0] = 0
    const { timeout, busy } = counters.snapshot().byScriptOutcome
    client.run(script, chain)
    const after = counters.snapshot().byScriptOutcome
    if (after['timeout'] === timeout && after['busy'] === busy) return
  }
  throw new Error('no answer in time for a minute')
}

describe('an answer that cannot be believed', () => {
  const { Done } = ScriptOutcome
  test.each([
    [
      'members that are none',
      { outcome: Done, named: 3, order: [1_000_000, 4, 0xffff_ffff] },
      'empty',
      [0, 1, 2, 3],
    ],
    [
      'one that is, among others',
      { outcome: Done, named: 3, order: [1_000_000, 2, 9] },
      'done',
      [2],
    ],
    ['one several times', { outcome: Done, named: 4, order: [3, 3, 1, 3] }, 'done', [3, 1]],
    [
      'more than there is room for',
      { outcome: Done, named: 1_000_000, order: [1, 0] },
      'done',
      [1, 0],
    ],
    ['less than none', { outcome: Done, named: -5, order: [1] }, 'empty', [0, 1, 2, 3]],
    [
      'an order with a failure',
      { outcome: ScriptOutcome.Exception, named: 2, order: [3, 2] },
      'exception',
      [0, 1, 2, 3],
    ],
  ] as const)('%s', async (_, work, outcome, expected) => {
    const parts = await echo(work)
    const chain = chainOfFour()
    runUntilAnswered(parts, chain)
    expect(membersOf(chain)).toEqual(expected)
    expect(parts.counters.snapshot().byScriptOutcome[outcome]).toBe(1)
  })
})

test('an outcome that is none is counted as none', async () => {
  const parts = await echo({ outcome: 77, named: 1, order: [1] })
  const chain = chainOfFour()
  runUntilAnswered(parts, chain)
  expect(membersOf(chain)).toEqual([0, 1, 2, 3])
})

test('keeping in order equals filtering a list, whatever the order holds', () => {
  const positions = fc.array(fc.oneof(fc.nat(5), fc.nat(0xffff_ffff)), { maxLength: 12 })
  fc.assert(
    fc.property(positions, (order) => {
      const chain = chainOfFour()
      const wanted = [...new Set(order)].filter((position) => position < 4)
      expect(keepInOrder(chain, Uint32Array.from(order), order.length)).toBe(wanted.length)
      expect(membersOf(chain)).toEqual(wanted.length === 0 ? [0, 1, 2, 3] : wanted)
    }),
  )
})

test('an answer that comes late is nobody’s', () => {
  const mailbox = new SharedArrayBuffer(Mailbox.bytes)
  const { cells, order } = new Mailbox(mailbox)
  const { client, counters, script } = clientOn(mailbox)
  const chain = chainOfFour()
  cells[MailCell.HasHelper] = 1
  client.run(script, chain)
  expect(counters.snapshot().byScriptOutcome).toMatchObject({ timeout: 1, done: 0 })
  // While its question is open, nobody waits for the helper.
  let fastestMs = Infinity
  for (let i = 0; i < 1_000; i++) {
    const startedMs = performance.now()
    client.run(script, chain)
    fastestMs = Math.min(fastestMs, performance.now() - startedMs)
  }
  expect(fastestMs).toBeLessThan(1)
  expect(counters.snapshot().byScriptOutcome).toMatchObject({ timeout: 1, busy: 1_000 })
  // Now it comes, and would put the last first.
  order[0] = 3
  cells[MailCell.Named] = 1
  cells[MailCell.Outcome] = ScriptOutcome.Done
  Atomics.store(cells, MailCell.Answered, cells[MailCell.Asked]!)
  client.run(script, chain)
  expect(counters.snapshot().byScriptOutcome).toMatchObject({ timeout: 2, done: 0 })
  expect(membersOf(chain)).toEqual([0, 1, 2, 3])
})

test('in one batch only so many scripts are run; the next batch begins anew', () => {
  const mailbox = new SharedArrayBuffer(Mailbox.bytes)
  const { cells } = new Mailbox(mailbox)
  const { client, counters, strikes, script } = clientOn(mailbox)
  cells[MailCell.HasHelper] = 1
  const runAll = (): void => {
    for (let i = 0; i < scriptLimits.runsPerBatchMax + 5; i++) {
      strikes[0] = 0
      Atomics.store(cells, MailCell.Answered, cells[MailCell.Asked]!)
      client.run(script, chainOfFour())
    }
  }
  client.startBatch()
  runAll()
  client.startBatch()
  runAll()
  const timeout = scriptLimits.runsPerBatchMax * 2
  expect(counters.snapshot().byScriptOutcome).toMatchObject({ timeout, busy: 10 })
})

test('a script with too many strikes is not run', () => {
  const mailbox = new SharedArrayBuffer(Mailbox.bytes)
  const { client, counters, strikes, script } = clientOn(mailbox)
  new Mailbox(mailbox).cells[MailCell.HasHelper] = 1
  strikes[0] = strikesMax
  client.run(script, chainOfFour())
  expect(counters.snapshot().byScriptOutcome['benched']).toBe(1)
})

test('whether a script is run does not move the random numbers behind it', () => {
  const { client, script } = clientOn(new SharedArrayBuffer(Mailbox.bytes))
  const [first, second] = [chainOfFour(), chainOfFour()]
  client.run(script, first)
  second.random.next()
  expect(first.random.next()).toBe(second.random.next())
})

describe('a step allocates nothing', () => {
  /** The least of many passes: others hold the compiler's work, or numbers that it still boxes. */
  const bytesEach = (
    times: number,
    enough: number,
    work: () => void,
    isMeant = (): boolean => true,
  ): number => {
    const deadline = performance.now() + 10_000
    let least = Infinity
    while ((least > enough || !isMeant()) && performance.now() < deadline) {
      const before = getHeapStatistics().used_heap_size
      for (let i = 0; i < times; i++) work()
      const each = (getHeapStatistics().used_heap_size - before) / times
      // Less than before: there was a collection.
      if (each >= 0) least = Math.min(least, each)
    }
    return least
  }

  test('answered', async () => {
    const parts = await echo({ outcome: ScriptOutcome.Done, named: 4, order: [3, 2, 1, 0] })
    const chain = chainOfFour()
    const { client, script, strikes } = parts
    const run = (): void => {
      strikes[0] = 0
      client.run(script, chain)
    }
    // On a busy machine the other thread may miss a whole pass.
    const isAnswered = (): boolean => parts.counters.snapshot().byScriptOutcome['done']! > 1_000
    const each = bytesEach(10_000, 2, run, isAnswered)
    expect([each <= 2, isAnswered()]).toEqual([true, true])
  })

  test('in vain', () => {
    const mailbox = new SharedArrayBuffer(Mailbox.bytes)
    const { cells } = new Mailbox(mailbox)
    const { client, script, strikes } = clientOn(mailbox)
    const chain = chainOfFour()
    cells[MailCell.HasHelper] = 1
    const each = bytesEach(100, 40, () => {
      strikes[0] = 0
      Atomics.store(cells, MailCell.Answered, cells[MailCell.Asked]!)
      client.run(script, chain)
    })
    expect(each).toBeLessThanOrEqual(40)
  })
})
