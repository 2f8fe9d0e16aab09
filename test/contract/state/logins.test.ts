import { describe, expect, test } from 'vitest'
import { nonceLimits } from '#state/ports/oidc-nonces.ts'
import { ephemeralAdapters, useEphemeral } from '#test/support/ephemeral-adapters.ts'
import { hostileTexts, valueOf } from '#test/support/store-values.ts'

const minute = 60_000

describe.each(ephemeralAdapters)('traces of logins in %s', (_name, start) => {
  const store = useEphemeral(start)

  test('a nonce gives its value once, also to two callbacks at once', async () => {
    const { nonces } = store().ports
    await valueOf(nonces.put('state', 'verifier'))
    const both = await Promise.all([valueOf(nonces.take('state')), valueOf(nonces.take('state'))])
    expect(both.toSorted()).toEqual(['verifier', null].toSorted())
    expect(await valueOf(nonces.take('state'))).toBeNull()
  })

  test('a nonce is good for ten minutes', async () => {
    const { ports, pass } = store()
    await valueOf(ports.nonces.put('a', 'x'))
    await valueOf(ports.nonces.put('b', 'y'))
    await pass(nonceLimits.ttlMs - minute)
    expect(await valueOf(ports.nonces.take('a'))).toBe('x')
    await pass(minute)
    expect(await valueOf(ports.nonces.take('b'))).toBeNull()
  })

  test('a token of the feed is claimed once, also by two connections at once', async () => {
    const { webSocketTokens } = store().ports
    const both = await Promise.all([
      valueOf(webSocketTokens.claim('t', minute)),
      valueOf(webSocketTokens.claim('t', minute)),
    ])
    expect(both.toSorted()).toEqual([false, true])
    expect(await valueOf(webSocketTokens.claim('t', minute))).toBe(false)
    expect(await valueOf(webSocketTokens.claim('u', minute))).toBe(true)
  })

  test('attempts are counted until their window ends, which the first one opened', async () => {
    const { ports, pass } = store()
    const { loginAttempts } = ports
    expect(await valueOf(loginAttempts.count('ann'))).toEqual({ count: 0, resetsInMs: 0 })
    for (let count = 1; count <= 3; count++) {
      const recorded = await valueOf(loginAttempts.record('ann', 10 * minute))
      expect(recorded.count).toBe(count)
      await pass(3 * minute)
    }
    expect(await valueOf(loginAttempts.count('ann'))).toMatchObject({ count: 3 })
    expect((await valueOf(loginAttempts.count('ann'))).resetsInMs).toBeLessThanOrEqual(minute)
    await pass(minute)
    expect(await valueOf(loginAttempts.count('ann'))).toEqual({ count: 0, resetsInMs: 0 })
  })

  test('attempts at once are all counted, and forgotten after a success', async () => {
    const { loginAttempts } = store().ports
    const recorded = await Promise.all(
      Array.from({ length: 20 }, () => valueOf(loginAttempts.record('ann', minute))),
    )
    expect(new Set(recorded.map(({ count }) => count)).size).toBe(20)
    await valueOf(loginAttempts.record('bob', minute))
    await valueOf(loginAttempts.clear('ann'))
    expect(await valueOf(loginAttempts.count('ann'))).toMatchObject({ count: 0 })
    expect(await valueOf(loginAttempts.count('bob'))).toMatchObject({ count: 1 })
  })

  test.each(hostileTexts)('keys are any text: %j', async (text) => {
    const { nonces, loginAttempts, webSocketTokens } = store().ports
    await valueOf(nonces.put(text, 'x'))
    expect(await valueOf(nonces.take(text))).toBe('x')
    expect(await valueOf(loginAttempts.record(text, minute))).toMatchObject({ count: 1 })
    expect(await valueOf(webSocketTokens.claim(text, minute))).toBe(true)
  })
})
