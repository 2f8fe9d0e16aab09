// Tests the dashboard before a login: a node that is still starting, and codes in other digits.
import fc from 'fast-check'
import { Secret, TOTP } from 'otpauth'
import { expect, test } from 'vitest'
import { stepOfCode } from '#access/auth/totp.ts'
import { createWorld } from '#test/support/api-world.ts'
import { persistentAdapters, useState } from '#test/support/persistent-adapters.ts'

const [, adapter] = persistentAdapters[0]!
const state = useState(adapter)

test.each([
  ['store-starting', true],
  ['store-away', false],
] as const)('with %s the configuration of logins says starting: %s', async (code, starting) => {
  const world = await createWorld(state())
  const hadAny = async () => ({ ok: false, error: { code, message: 'x' } }) as const
  const other = await createWorld(state(), { users: { ...world.ports.users, hadAny } })
  const { status, body } = await other.call('GET', '/api/v1/auth/config')
  expect([status, body]).toMatchObject([200, { setupOpen: false, starting }])
})

const secret = new Secret({ size: 20 }).base32
const nowMs = 1_700_000_000_000
const code = new TOTP({ secret: Secret.fromBase32(secret), digits: 6 }).generate({
  timestamp: nowMs,
})
/** The zero of Arabic-Indic, Persian, Devanagari, wide and mathematical digits. */
const zeros = [0x660, 0x6f0, 0x966, 0xff10, 0x1d7ce]

test.each(zeros)('a code in digits from U+%i on is a wrong one, not a fault', (zero) => {
  const other = [...code].map((digit) => String.fromCodePoint(zero + Number(digit))).join('')
  expect(stepOfCode(secret, code, nowMs)).not.toBeNull()
  expect(stepOfCode(secret, other, nowMs)).toBeNull()
  expect(stepOfCode(secret, code.slice(0, 5) + other.slice(-1), nowMs)).toBeNull()
})

test('no text whatever makes it throw', () => {
  const texts = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ minLength: 6, maxLength: 6 }))
  fc.assert(
    fc.property(texts, (text) => {
      if (text !== code) expect(stepOfCode(secret, text, nowMs) ?? 0).toBeTypeOf('number')
    }),
  )
})
