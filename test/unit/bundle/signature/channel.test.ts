import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  checkOrder,
  signChannelRecord,
  signingKeyFromPem,
  trustedKeyFromPem,
  soaSerialOf,
  verifyChannelRecord,
} from '#bundle/signature/channel.ts'
import type { ChannelError, ChannelRecord, SignedChannelRecord } from '#bundle/signature/channel.ts'
import { newSigningKey } from '../../../support/bundle-models.ts'

const key = newSigningKey()
const record: ChannelRecord = {
  channel: 'main',
  seq: 7,
  serial: 12,
  digest: 'd'.repeat(64),
  previous: 'c'.repeat(64),
  commit: 'abc',
  issuedAtMs: 1_000,
  expiresAtMs: 2_000,
}
const signed = signChannelRecord(record, key)

describe('a record is believed', () => {
  test('when a trusted key signed it, also after a way through JSON', () => {
    const sent: unknown = JSON.parse(JSON.stringify(signed))
    const reordered = { ...signed, record: Object.fromEntries(Object.entries(record).reverse()) }
    const other = newSigningKey()
    for (const value of [signed, sent, reordered]) {
      expect(verifyChannelRecord(value, [other, key])).toMatchObject({ ok: true, value: record })
    }
  })

  test('with the public half of the key from its file', () => {
    const pem = key.publicKey.export({ type: 'spki', format: 'pem' }).toString()
    const trusted = trustedKeyFromPem(pem)
    expect(trusted.keyId).toBe(key.keyId)
    expect(verifyChannelRecord(signed, [trusted]).ok).toBe(true)
  })
})

test('a record of before there were serials is believed; its seq is the serial', () => {
  const { serial: _, ...old } = record
  const read = verifyChannelRecord(signChannelRecord(old, key), [key])
  expect(read).toMatchObject({ ok: true, value: old })
  expect(read.ok && soaSerialOf(read.value)).toBe(7)
})

test('how many agents may be heard is signed with the rest', () => {
  const limited = signChannelRecord({ ...record, agentsMax: 10 }, key)
  const read = verifyChannelRecord(JSON.parse(JSON.stringify(limited)), [key])
  expect(read).toMatchObject({ ok: true, value: { agentsMax: 10 } })
  const { agentsMax: _, ...unlimited } = limited.record
  for (const changed of [unlimited, { ...limited.record, agentsMax: 11 }, { ...unlimited, x: 1 }]) {
    expect(verifyChannelRecord({ ...limited, record: changed }, [key])).toMatchObject({
      ok: false,
      error: 'bad-signature',
    })
  }
})

test('the size of the bundle is signed with the rest', () => {
  const sized = signChannelRecord({ ...record, bytes: 4_096 }, key)
  const read = verifyChannelRecord(JSON.parse(JSON.stringify(sized)), [key])
  expect(read).toMatchObject({ ok: true, value: { bytes: 4_096 } })
  for (const changed of [record, { ...record, bytes: 4_097 }]) {
    expect(verifyChannelRecord({ ...sized, record: changed }, [key])).toEqual({
      ok: false,
      error: 'bad-signature',
    })
  }
})

test('a record with fields that a later version signs is accepted', () => {
  const later = { ...record, zone: 'eu', 9: 1 } as ChannelRecord
  const sent: unknown = JSON.parse(JSON.stringify(signChannelRecord(later, key)))
  expect(verifyChannelRecord(sent, [key]).ok).toBe(true)
  const nested = { ...record, more: { a: 1 } } as ChannelRecord
  expect(verifyChannelRecord(signChannelRecord(nested, key), [key])).toEqual({
    ok: false,
    error: 'malformed',
  })
})

test('after the highest serial comes 0 (RFC 1982)', () => {
  expect(soaSerialOf({ ...record, serial: 2 ** 32 - 1 })).toBe(4_294_967_295)
  expect(soaSerialOf({ ...record, serial: 2 ** 32 })).toBe(0)
})

describe('a record is refused', () => {
  const withField = (field: string, value: unknown): unknown => ({
    ...signed,
    record: { ...record, [field]: value },
  })
  const rows: readonly [title: string, value: unknown, error: ChannelError][] = [
    ['when it is nothing', undefined, 'malformed'],
    ['when it is null', null, 'malformed'],
    ['when it is a text', 'record', 'malformed'],
    ['without a record', { ...signed, record: null }, 'malformed'],
    ['without a signature', { ...signed, signature: undefined }, 'malformed'],
    ['with a seq that is a text', withField('seq', '7'), 'malformed'],
    ['with a negative seq', withField('seq', -1), 'malformed'],
    ['with half a seq', withField('seq', 7.5), 'malformed'],
    ['with fewer agents than none', withField('agentsMax', -1), 'malformed'],
    ['with agents that are a text', withField('agentsMax', '10'), 'malformed'],
    ['of a bundle without an octet', withField('bytes', 0), 'malformed'],
    ['of a bundle of a text', withField('bytes', '9'), 'malformed'],
    ['with a seq beyond exact numbers', withField('seq', 2 ** 53), 'malformed'],
    ['with a serial that is a text', withField('serial', '12'), 'malformed'],
    ['with a digest in capitals', withField('digest', 'D'.repeat(64)), 'malformed'],
    ['with a digest that names a file', withField('digest', '../../etc/passwd'), 'malformed'],
    ['with a text of megabytes', withField('channel', 'x'.repeat(1_000_000)), 'malformed'],
    ['of a key that nobody trusts', { ...signed, keyId: '0'.repeat(16) }, 'unknown-key'],
    ['with an empty signature', { ...signed, signature: '' }, 'bad-signature'],
    [
      'with half a signature',
      { ...signed, signature: signed.signature.slice(0, 40) },
      'bad-signature',
    ],
    ['with a signature that is no base64', { ...signed, signature: '???' }, 'bad-signature'],
    ['with a later seq than was signed', withField('seq', 8), 'bad-signature'],
    ['with another digest', withField('digest', 'e'.repeat(64)), 'bad-signature'],
    ['with another previous', withField('previous', ''), 'bad-signature'],
    ['with another channel', withField('channel', 'other'), 'bad-signature'],
    ['with another commit', withField('commit', ''), 'bad-signature'],
    ['with another serial than was signed', withField('serial', 13), 'bad-signature'],
    ['without the serial that was signed', withField('serial', undefined), 'bad-signature'],
    ['with a longer life', withField('expiresAtMs', 9_000), 'bad-signature'],
    ['with another birth', withField('issuedAtMs', 0), 'bad-signature'],
  ]
  test.each(rows)('%s', (_title, value, error) => {
    expect(verifyChannelRecord(value, [key])).toEqual({ ok: false, error })
  })

  test('when the key id is right and the key another', () => {
    const forged: SignedChannelRecord = {
      ...signChannelRecord(record, newSigningKey()),
      keyId: key.keyId,
    }
    expect(verifyChannelRecord(forged, [key])).toEqual({ ok: false, error: 'bad-signature' })
  })
})

describe('order', () => {
  const other = 'e'.repeat(64)
  const rows: readonly [string, Partial<ChannelRecord>, ChannelRecord | undefined, string][] = [
    ['the first is newer than nothing', { seq: 1 }, undefined, 'newer'],
    ['a higher seq is newer', { seq: 8, digest: other }, record, 'newer'],
    ['a gap is newer', { seq: 100 }, record, 'newer'],
    ['a higher seq with the same digest is newer', { seq: 8 }, record, 'newer'],
    ['a higher seq is newer even if issued earlier', { seq: 8, issuedAtMs: 1 }, record, 'newer'],
    ['the same seq and digest is a renewal', { expiresAtMs: 9_000 }, record, 'same'],
    ['a lower seq is a rollback', { seq: 6 }, record, 'rollback'],
    ['a lower seq issued later is a rollback', { seq: 6, issuedAtMs: 9_000 }, record, 'rollback'],
    [
      'another channel is refused, newer or not',
      { channel: 'other', seq: 9 },
      record,
      'other-channel',
    ],
    ['the same seq with another digest is equivocation', { digest: other }, record, 'equivocation'],
  ]
  test.each(rows)('%s', (_title, parts, newest, expected) => {
    const order = checkOrder({ ...record, ...parts }, newest)
    expect(order.ok ? order.value : order.error).toBe(expected)
  })
})

test('keys of another kind are refused', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  expect(() => signingKeyFromPem(pem)).toThrow('not an Ed25519 key')
  const publicPem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  expect(() => trustedKeyFromPem(publicPem)).toThrow('not an Ed25519 key')
})
