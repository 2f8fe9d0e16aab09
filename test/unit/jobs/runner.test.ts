import { describe, expect, test } from 'vitest'
import { createJobRunner, jitterRatio, stopGraceMs } from '#jobs/runner.ts'
import type { JobRunner } from '#jobs/runner.ts'
import { jobs as jobTable } from '#jobs/table.ts'
import type { Job, JobContext } from '#jobs/table.ts'
import { Random } from '#lib/random.ts'
import { HandTimers, settle } from './hand-timers.ts'

type Line = readonly [level: string, fields: object, message: string]

function create(
  jobs: readonly Job[],
  context: Partial<JobContext> = {},
): { runner: JobRunner; timers: HandTimers; lines: Line[] } {
  const timers = new HandTimers()
  const lines: Line[] = []
  const runner = createJobRunner({
    jobs,
    context: context as JobContext,
    timers,
    random: new Random(1),
    log: {
      info: (fields, message) => lines.push(['info', fields, message]),
      warn: (fields, message) => lines.push(['warn', fields, message]),
      error: (fields, message) => lines.push(['error', fields, message]),
    },
  })
  return { runner, timers, lines }
}

describe('a job', () => {
  test('runs once each period, give or take the jitter', async () => {
    const ranAtMs: number[] = []
    const { runner, timers } = create([
      { name: 'tick', periodMs: 1_000, run: () => void ranAtMs.push(timers.nowMs()) },
    ])
    const startMs = timers.nowMs()
    runner.start()
    await timers.advance(100_000)
    const gaps = ranAtMs.map((atMs, i) => atMs - (ranAtMs[i - 1] ?? startMs))
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1_000 * (1 - jitterRatio))
    expect(Math.max(...gaps)).toBeLessThanOrEqual(1_000 * (1 + jitterRatio))
    expect(new Set(gaps).size).toBeGreaterThan(20)
    expect(ranAtMs.length).toBeGreaterThan(90)
    await runner.stop()
  })

  test('never overlaps itself, and says once that it is late', async () => {
    let finish = (): void => undefined
    let runs = 0
    const slow: Job = {
      name: 'slow',
      periodMs: 1_000,
      run: () => {
        runs++
        return new Promise((resolve) => (finish = resolve))
      },
    }
    const { runner, timers, lines } = create([slow])
    runner.start()
    await timers.advance(10_000)
    expect(runs).toBe(1)
    expect(lines).toEqual([
      ['warn', { job: 'slow', periodMs: 1_000 }, 'a job runs longer than its period'],
    ])
    finish()
    await settle()
    await timers.advance(1_100)
    expect(runs).toBe(2)
    finish()
    await runner.stop()
  })

  const failures: readonly [string, () => void | Promise<void>][] = [
    [
      'throws',
      () => {
        throw new Error('broken')
      },
    ],
    ['rejects', () => Promise.reject(new Error('broken'))],
  ]
  test.each(failures)('that %s is logged once by name, and runs again', async (_title, run) => {
    let [runs, isWell] = [0, false]
    const counted = (): void | Promise<void> => {
      runs++
      return isWell ? undefined : run()
    }
    const { runner, timers, lines } = create([{ name: 'bad', periodMs: 1_000, run: counted }])
    const failed = ['error', expect.objectContaining({ job: 'bad' }), expect.any(String)]
    runner.start()
    await timers.advance(3_400)
    expect(runs).toBe(3)
    expect(lines).toEqual([failed])
    isWell = true
    await timers.advance(2_000)
    isWell = false
    await timers.advance(3_000)
    expect(lines, 'it failed anew').toEqual([failed, failed])
    await runner.stop()
  })

  test('that is late again and again says so once, until it is in time', async () => {
    let lateMs = 2_000
    const { runner, timers, lines } = create([
      {
        name: 'slow',
        periodMs: 1_000,
        run: () => new Promise((resolve) => void timers.after(lateMs, () => resolve())),
      },
    ])
    runner.start()
    await timers.advance(30_000)
    expect(lines).toHaveLength(1)
    lateMs = 10
    await timers.advance(5_000)
    lateMs = 2_000
    await timers.advance(30_000)
    expect(lines).toHaveLength(2)
    await runner.stop()
  })

  test('that fails or hangs does not hold up another', async () => {
    let runs = 0
    const { runner, timers } = create([
      { name: 'hangs', periodMs: 1_000, run: () => new Promise(() => undefined) },
      { name: 'fails', periodMs: 1_000, run: () => Promise.reject(new Error('broken')) },
      { name: 'works', periodMs: 1_000, run: () => void runs++ },
    ])
    runner.start()
    await timers.advance(10_000)
    expect(runs).toBeGreaterThanOrEqual(9)
  })
})

describe('stopping', () => {
  test('leaves no timer and starts no further run', async () => {
    let runs = 0
    const { runner, timers } = create([{ name: 'tick', periodMs: 1_000, run: () => void runs++ }])
    runner.start()
    await timers.advance(1_100)
    await runner.stop()
    await timers.advance(10_000)
    expect([runs, timers.pending.size]).toEqual([1, 0])
  })

  test('waits for a run in progress', async () => {
    const order: string[] = []
    let finish = (): void => undefined
    const { runner, timers } = create([
      { name: 'slow', periodMs: 1_000, run: () => new Promise((resolve) => (finish = resolve)) },
    ])
    runner.start()
    await timers.advance(1_100)
    const stopped = runner.stop().then(() => order.push('stopped'))
    await settle()
    order.push('finished')
    finish()
    await stopped
    expect(order).toEqual(['finished', 'stopped'])
    expect(timers.pending.size).toBe(0)
  })

  test('does not wait for ever for a run that hangs', async () => {
    const { runner, timers, lines } = create([
      { name: 'hangs', periodMs: 1_000, run: () => new Promise(() => undefined) },
    ])
    runner.start()
    await timers.advance(1_100)
    const stopped = runner.stop()
    await timers.advance(stopGraceMs)
    await stopped
    expect(lines.at(-1)?.[2]).toBe('a job did not end at shutdown; left behind')
  })

  test('and starting twice does not double the jobs', async () => {
    let runs = 0
    const { runner, timers } = create([{ name: 'tick', periodMs: 1_000, run: () => void runs++ }])
    runner.start()
    runner.start()
    await timers.advance(1_100)
    expect(runs).toBe(1)
    await runner.stop()
  })
})

describe('the table', () => {
  test('calls the function of each job', async () => {
    const called = new Set<string>()
    const context = new Proxy<Partial<JobContext>>(
      {},
      {
        get: (_target, name) => () => {
          called.add(String(name))
        },
      },
    )
    const { runner, timers } = create(jobTable, context)
    runner.start()
    await timers.advance(2 * 3_600_000)
    await runner.stop()
    expect(called.size).toBe(jobTable.length)
    expect([...called]).toContain('checkRecordExpiry')
  })

  test('names each job as its function, with hyphens', () => {
    const names = jobTable.map(({ name }) => name)
    expect(names).toContain('look-at-dynamic-dns')
    expect(names.filter((name) => !/^[a-z]+(-[a-z]+)+$/.test(name))).toEqual([])
  })
})
