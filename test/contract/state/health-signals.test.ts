import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { uuidV7 } from '#lib/uuid.ts'
import { createMemoryHealthSignals } from '#state/memory/health-signals.ts'
import { healthSignalLimits } from '#state/ports/health-signals.ts'
import type { HealthSignal } from '#state/ports/health-signals.ts'
import { ephemeralAdapters, useEphemeral } from '#test/support/ephemeral-adapters.ts'
import { expectSharesOfTenants } from '#test/support/tenant-signals.ts'
import { waitUntil } from '#test/support/wait-until.ts'

function ordered(signals: readonly HealthSignal[]): readonly HealthSignal[] {
  const keyOf = (one: HealthSignal): string => `${one.memberUid} ${one.source}`
  return signals.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

test('in memory a tenant has a share of the places, and others have theirs', async () => {
  await expectSharesOfTenants(createMemoryHealthSignals)
})

describe.each(ephemeralAdapters)('health signals in %s', (_name, start) => {
  const store = useEphemeral(start)
  const nowMs = (): number => store().clock.nowMs()
  function signal(parts: Partial<HealthSignal> = {}): HealthSignal {
    const postedAtMs = parts.postedAtMs ?? nowMs()
    return {
      memberUid: 'm1',
      source: 'pager',
      healthy: false,
      score: null,
      postedAtMs,
      expiresAtMs: postedAtMs + 300_000,
      ...parts,
    }
  }

  test('are loaded as they were posted, one for each source of a member', async () => {
    const signals = store().ports.healthSignals
    expect(await signals.load()).toEqual([])
    const all = [signal(), signal({ source: 'b', score: 0.5 }), signal({ memberUid: 'm2' })]
    for (const one of all) expect(await signals.post(one)).toBe('accepted')
    expect(ordered(await signals.load())).toEqual(ordered(all))
  })

  test('the newest word of a source stays, in whatever order they arrive', async () => {
    const signals = store().ports.healthSignals
    const newer = signal({ healthy: true, postedAtMs: nowMs() + 5 })
    expect(await signals.post(newer)).toBe('accepted')
    expect(await signals.post(signal())).toBe('replaced')
    const newest = signal({ postedAtMs: nowMs() + 5, score: 0.1 })
    expect(await signals.post(newest)).toBe('accepted')
    expect(await signals.load()).toEqual([newest])
  })

  test('subscribers hear what is accepted, until they leave', async () => {
    const signals = store().ports.healthSignals
    const heard: HealthSignal[] = []
    const leave = signals.subscribe((one) => heard.push(one))
    const first = signal()
    await signals.post(first)
    await signals.post(signal({ postedAtMs: nowMs() - 1 }))
    await waitUntil('the word to arrive', () => heard.length > 0)
    leave()
    await signals.post(signal({ postedAtMs: nowMs() + 1 }))
    // A bus may tell a word twice; the newest counts, so that does no harm.
    expect(heard.filter((one, i) => i === 0 || !isDeepStrictEqual(one, heard[0]))).toEqual([first])
  })

  test('a member has so many sources and no more, until old words are forgotten', async () => {
    const signals = store().ports.healthSignals
    for (let i = 0; i < healthSignalLimits.sourcesPerMemberMax; i++) {
      expect(await signals.post(signal({ source: `s${i}` }))).toBe('accepted')
    }
    expect(await signals.post(signal({ source: 'one more' }))).toBe('full')
    expect(await signals.post(signal({ source: 's0', postedAtMs: nowMs() + 1 }))).toBe('accepted')
    expect(await signals.post(signal({ memberUid: 'm2', source: 'one more' }))).toBe('accepted')
    await store().pass(healthSignalLimits.keptMs)
    expect(await signals.post(signal({ source: 'one more' }))).toBe('accepted')
  })

  test('those of a member are found without the others', async () => {
    const signals = store().ports.healthSignals
    const [own, other] = [uuidV7(1), uuidV7(2)]
    const all = ['a', 'b*', 'c"]'].map((source) => signal({ memberUid: own, source }))
    const others = [signal({ memberUid: other }), signal({ memberUid: `${own}0` })]
    for (const one of [...all, ...others]) await signals.post(one)
    expect(ordered(await signals.of(own))).toEqual(ordered(all))
    expect(await signals.of(uuidV7(3))).toEqual([])
  })

  test('an expired word is kept for two hours, so that an older one cannot return', async () => {
    const signals = store().ports.healthSignals
    const short = signal({ expiresAtMs: nowMs() + 1_000 })
    await signals.post(short)
    await store().pass(3_600_000)
    const late = signal({ postedAtMs: short.postedAtMs - 1, expiresAtMs: nowMs() + 1_000 })
    expect(await signals.post(late)).toBe('replaced')
    expect(await signals.load()).toEqual([short])
    await store().pass(3_600_000)
    expect(await signals.load()).toEqual([])
  })
})
