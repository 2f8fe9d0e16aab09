// Lines of the log about networks that are limited, and their bounds.
import { expect, test } from 'vitest'
import { RateLimiter } from '#answer/rate-limit/limiter.ts'
import { createRateMemory } from '#answer/rate-limit/rate-memory.ts'
import { RateWatch, watchLimits } from '#answer/rate-limit/rate-watch.ts'
import { Counters } from '#answer/counters/counters.ts'
import { parseAddress } from '#dns/address.ts'
import { rates, rateSettings } from '#test/support/rate-limits.ts'

function watched(isDryRun = false) {
  let nowMs = 5_000
  const lines: object[] = []
  const memory = createRateMemory(
    rateSettings({ rates: rates(1, { isDryRun }) }),
    ...([2, 1, nowMs] as const),
  )
  const counters = new Counters(new SharedArrayBuffer(Counters.bytes))
  const limiters = [0, 1].map((i) => new RateLimiter(memory, i, 1, counters, () => nowMs))
  const line = (fields: object, message: string) => void lines.push({ ...fields, message })
  const watch = new RateWatch({
    memory,
    limited: () => counters.snapshot().rateLimited.reduce((sum, { count }) => sum + count, 0),
    nowMs: () => nowMs,
    after: () => () => undefined,
    log: { info: line, warn: line, error: line },
  })
  const flood = (client: string, thread = 0) => {
    const address = parseAddress(client)
    if (!address.ok) throw new Error(client)
    const answer = {
      ...{ source: address.value, sourceAt: 0, sourceBytes: address.value.length, rcode: 3 },
      ...{ isAuthoritative: true, isTruncated: false, answerCount: 0, authorityCount: 1 },
      ...{ qnameHash: 1, aliasCount: 0, leftHash: new Int32Array(1), isGrouped: false, group: 0 },
      isUnknownName: false,
    }
    limiters[thread]!.startBatch()
    for (let n = 0; n < 4; n++) limiters[thread]!.judge(answer)
  }
  return { lines, watch, flood, pass: (ms: number) => void (nowMs += ms) }
}

test('a network that is limited is named, with its class and how many were', () => {
  const { lines, watch, flood } = watched()
  watch.look()
  expect(lines).toEqual([])
  flood('192.0.2.77')
  watch.look()
  const message = 'answers to a network are limited'
  expect(lines).toEqual([
    { network: '192.0.2.0/24', class: 'nxdomain', action: 'drop', limited: 3, message },
  ])
  flood('2001:db8:1:2ff::7')
  watch.look()
  expect(lines[1]).toMatchObject({ network: '2001:db8:1:200::/56', limited: 3 })
})

test('a dry run says that it would be', () => {
  const { lines, watch, flood } = watched(true)
  flood('192.0.2.77')
  watch.look()
  const message = 'answers to a network would be limited'
  expect(lines).toMatchObject([{ action: 'would', message }])
})

test('each network has one line in a minute', () => {
  const { lines, watch, flood, pass } = watched()
  for (let n = 0; n < 59; n++) {
    flood('192.0.2.77', n % 2)
    watch.look()
    pass(1_000)
  }
  expect(lines.length).toBe(1)
  pass(1_000)
  flood('192.0.2.77')
  watch.look()
  expect(lines.length).toBe(2)
})

test('all networks together have few lines in a minute', () => {
  const { lines, watch, flood } = watched()
  for (let n = 0; n < 50; n++) {
    flood(`10.0.${n}.1`)
    watch.look()
  }
  expect(lines.length).toBe(watchLimits.linesPerMinute)
})
