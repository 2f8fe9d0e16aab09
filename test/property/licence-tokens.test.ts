// Over all tokens: none but those that the vendor signed are believed, and no text is too much.
import { sign } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { tokenTiers } from '#licence/tiers.ts'
import { readToken, unverifiedPayload } from '#licence/token.ts'
import { payload, token, vendor } from '#test/support/licences.ts'
import { laneCount } from '#test/support/lane.ts'
import { countFrom } from '#test/support/random.ts'

const numRuns = countFrom('GSLB_TOKEN_COUNT', laneCount(2_000))
const good = token({ exp: 0 })

const letters = fc.constantFrom(
  ...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.=+/ \0é',
)

test('a token with one letter changed, added or taken away is refused', () => {
  const edit = fc.record({
    at: fc.nat(good.length - 1),
    what: fc.constantFrom('change', 'insert', 'delete', 'cut'),
    letter: letters,
  })
  fc.assert(
    fc.property(edit, ({ at, what, letter }) => {
      const rest = good.slice(at + (what === 'insert' ? 0 : 1))
      const changed = what === 'delete' ? rest : what === 'cut' ? '' : letter + rest
      const text = good.slice(0, at) + changed
      fc.pre(text !== good)
      expect(readToken(text, vendor.publicKey).ok).toBe(false)
    }),
    { numRuns },
  )
})

test('no text is believed, and none makes it fail', () => {
  const part = fc.oneof(fc.base64String(), fc.string(), fc.constantFrom(...good.split('.')))
  const text = fc.array(part, { maxLength: 4 }).map((parts) => parts.join('.'))
  fc.assert(
    fc.property(text, (text) => {
      fc.pre(text !== good)
      expect(readToken(text, vendor.publicKey).ok).toBe(false)
      unverifiedPayload(text)
    }),
    { numRuns },
  )
})

test('a signed token is read as a licence, or refused with its reason', () => {
  const field = fc.oneof(
    fc.jsonValue(),
    fc.integer(),
    fc.constantFrom(...tokenTiers, 'a'.repeat(32)),
  )
  const names = fc.constantFrom(...Object.keys(payload()), 'iid', '__proto__', 'constructor')
  const value = fc.oneof(fc.dictionary(names, field), fc.jsonValue())
  const whole = fc.record({ base: fc.boolean(), value })
  fc.assert(
    fc.property(whole, ({ base, value }) => {
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
      const said = base && isObject ? { ...payload(), ...value } : value
      const octets = Buffer.from(JSON.stringify(said))
      const signature = sign(null, octets, vendor.privateKey).toString('base64url')
      const read = readToken(`${octets.toString('base64url')}.${signature}`, vendor.publicKey)
      if (!read.ok) {
        expect(read.error.message).not.toBe('')
        return
      }
      const { tier, maxRps, iat, exp, id, cid, iid } = read.value
      expect(tokenTiers).toContain(tier)
      for (const number of [maxRps, iat, exp]) expect(Number.isSafeInteger(number)).toBe(true)
      expect(id).toMatch(/^[0-9a-f]{32}$/i)
      expect([typeof cid, typeof (iid ?? '')]).toEqual(['string', 'string'])
    }),
    { numRuns },
  )
})
