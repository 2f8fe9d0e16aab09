import { describe, expect, test } from 'vitest'
import { sessionLimits } from '#state/ports/sessions.ts'
import { ephemeralAdapters, useEphemeral } from '#test/support/ephemeral-adapters.ts'
import { hostileTexts, valueOf } from '#test/support/store-values.ts'

const hashOf = (n: number): string => `${n}`.padStart(64, '0')
const ann = { userId: 'ann', tenantId: 'acme', role: 'viewer', createdAtMs: 1_799_999_999_000 }
const hour = 3_600_000

describe.each(ephemeralAdapters)('sessions in %s', (_name, start) => {
  const store = useEphemeral(start)

  test('are found by the hash of their token, and nothing else of the object is kept', async () => {
    const { sessions } = store().ports
    const made = await valueOf(
      sessions.create(hashOf(1), { ...ann, password: 'x' } as typeof ann, hour),
    )
    expect(made).toEqual({ ...ann, expiresAtMs: made.expiresAtMs })
    const found = await valueOf(sessions.find(hashOf(1), null))
    expect(found).toEqual({ ...ann, expiresAtMs: found!.expiresAtMs })
    expect(Math.abs(found!.expiresAtMs - made.expiresAtMs)).toBeLessThan(1_000)
    expect(await valueOf(sessions.find(hashOf(2), hour))).toBeNull()
  })

  test('end when their time is over', async () => {
    const { ports, pass } = store()
    await valueOf(ports.sessions.create(hashOf(1), ann, hour))
    await pass(hour - 60_000)
    expect(await valueOf(ports.sessions.find(hashOf(1), null))).not.toBeNull()
    await pass(60_000)
    expect(await valueOf(ports.sessions.find(hashOf(1), null))).toBeNull()
  })

  test('live on with each use that extends them', async () => {
    const { ports, pass } = store()
    await valueOf(ports.sessions.create(hashOf(1), ann, hour))
    for (let i = 0; i < 3; i++) {
      await pass(hour - 60_000)
      expect(await valueOf(ports.sessions.find(hashOf(1), hour))).not.toBeNull()
    }
    await pass(hour)
    expect(await valueOf(ports.sessions.find(hashOf(1), hour))).toBeNull()
  })

  test('are revoked one by one', async () => {
    const { sessions } = store().ports
    await valueOf(sessions.create(hashOf(1), ann, hour))
    await valueOf(sessions.create(hashOf(2), ann, hour))
    expect(await valueOf(sessions.revoke(hashOf(1)))).toBe(true)
    expect(await valueOf(sessions.revoke(hashOf(1)))).toBe(false)
    expect(await valueOf(sessions.find(hashOf(1), hour))).toBeNull()
    expect(await valueOf(sessions.find(hashOf(2), hour))).not.toBeNull()
  })

  test("all of a user's are revoked at once, and nobody else's; the next one is good", async () => {
    const { sessions } = store().ports
    await valueOf(sessions.create(hashOf(1), ann, hour))
    await valueOf(sessions.create(hashOf(2), ann, hour))
    await valueOf(sessions.create(hashOf(3), { ...ann, userId: 'bob' }, hour))
    await valueOf(sessions.find(hashOf(1), hour))
    expect(await valueOf(sessions.revokeUser('ann'))).toBe(2)
    expect(await valueOf(sessions.revokeUser('ann'))).toBe(0)
    expect(await valueOf(sessions.find(hashOf(1), hour))).toBeNull()
    expect(await valueOf(sessions.find(hashOf(3), hour))).not.toBeNull()
    await valueOf(sessions.create(hashOf(4), ann, hour))
    expect(await valueOf(sessions.find(hashOf(4), hour))).not.toBeNull()
  })

  test('a user has so many and no more: the one that expires first goes', async () => {
    const { sessions } = store().ports
    const max = sessionLimits.perUserMax
    for (let i = 0; i <= max; i++) {
      await valueOf(sessions.create(hashOf(i), ann, hour + i * 1_000))
    }
    expect(await valueOf(sessions.find(hashOf(0), null))).toBeNull()
    expect(await valueOf(sessions.find(hashOf(1), null))).not.toBeNull()
    expect(await valueOf(sessions.revokeUser('ann'))).toBe(max)
  })

  test.each(hostileTexts)('text is text, whatever is in it: %j', async (text) => {
    const { sessions } = store().ports
    const identity = { ...ann, userId: text, tenantId: text, role: text }
    await valueOf(sessions.create(hashOf(1), identity, hour))
    expect(await valueOf(sessions.find(hashOf(1), hour))).toMatchObject(identity)
    expect(await valueOf(sessions.find(text, hour))).toBeNull()
    expect(await valueOf(sessions.revokeUser(text))).toBe(1)
  })
})
