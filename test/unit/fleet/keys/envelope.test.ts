// Envelopes: for one question of one node, from a control node that it trusts, and nobody else.
import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { newQuestionKey, openEnvelope, sealEnvelope } from '#fleet/keys/envelope.ts'
import { newSigningKey } from '#test/support/bundle-models.ts'

const signer = newSigningKey()
const question = newQuestionKey()
const content = Buffer.from('the keys')
const to = { node: 'far-1', sealTo: question.sealTo }
const sealed = sealEnvelope({ revision: 7, content }, to, signer)!
const open = (octets: Uint8Array, more: Partial<{ node: string; key: typeof question }> = {}) =>
  openEnvelope(octets, { node: 'far-1', key: question, ...more }, [newSigningKey(), signer])

describe('an envelope', () => {
  test('gives what was put in, with its revision, and shows nothing of it', () => {
    expect(open(sealed)).toEqual({ ok: true, value: { revision: 7, content } })
    expect(sealed.includes(content)).toBe(false)
    expect(sealEnvelope({ revision: 7, content }, to, signer)).not.toEqual(sealed)
  })

  test.each([
    ['for another node', open(sealed, { node: 'far-2' }), 'not-for-us'],
    // A recorded envelope opens for no later request, so it cannot bring old keys back.
    ['for another question', open(sealed, { key: newQuestionKey() }), 'not-for-us'],
    [
      'of a control node that is not trusted',
      openEnvelope(sealed, { node: 'far-1', key: question }, [newSigningKey()]),
      'unknown-key',
    ],
    ['without anything', open(Buffer.alloc(0)), 'malformed'],
    ['that is cut', open(sealed.subarray(0, -1)), 'bad-signature'],
  ])('%s is not opened', (_what, opened, error) => {
    expect(opened).toEqual({ ok: false, error })
  })

  test.each([
    ['no key', ''],
    ['a key that is too short', 'AAAA'],
    ['a point of small order', Buffer.alloc(32).toString('base64url')],
    ['another one', Buffer.from(`01${'00'.repeat(31)}`, 'hex').toString('base64url')],
  ])('is not sealed to %s', (_what, sealTo) => {
    expect(
      sealEnvelope({ revision: 7, content }, { node: 'far-1', sealTo }, signer),
    ).toBeUndefined()
  })

  test('is refused with any octet changed', () => {
    fc.assert(
      fc.property(fc.nat(sealed.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const other = Buffer.from(sealed)
        other[at]! ^= flip
        expect(open(other).ok).toBe(false)
      }),
      { numRuns: 200 },
    )
  })

  test('of random octets is refused without an exception', () => {
    const head = Buffer.from('gslbenv1')
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.boolean(), (octets, hasHead) => {
        expect(open(hasHead ? Buffer.concat([head, octets]) : octets).ok).toBe(false)
      }),
    )
  })

  const corpus = 'test/fuzz/corpus/key-envelope'
  test.each(readdirSync(corpus))('from the corpus is refused: %s', (file) => {
    expect(open(Buffer.from(readFileSync(`${corpus}/${file}`, 'utf8').trim(), 'hex')).ok).toBe(
      false,
    )
  })
})
