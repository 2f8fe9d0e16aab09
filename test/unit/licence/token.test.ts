import { createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { formatVendorKey, issueToken, parseVendorKey, readToken } from '#licence/token.ts'
import { licenceId, payload, stranger, token, vendor } from '../../support/licences.ts'

const read = (text: string) => readToken(text, vendor.publicKey)
const encoded = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

/** Any octets, signed by the vendor. */
function signedOctets(text: string): string {
  const signature = sign(null, Buffer.from(text), vendor.privateKey)
  return `${encoded(text)}.${signature.toString('base64url')}`
}

describe('a licence token', () => {
  test('is the payload and its signature, and comes back as it was issued', () => {
    const text = token({ maxRps: 700, iid: 'x' })
    expect(text).toMatch(/^[\w-]+\.[\w-]{86}$/)
    const [first = ''] = text.split('.')
    expect(JSON.parse(Buffer.from(first, 'base64url').toString())).toEqual(
      payload({ maxRps: 700, iid: 'x' }),
    )
    expect(read(text)).toEqual({ ok: true, value: payload({ maxRps: 700, iid: 'x' }) })
  })

  test('may leave out what has a plain meaning, and have fields of a later version', () => {
    const text = signedOctets(JSON.stringify({ id: licenceId, tier: 'free', iid: '', seats: 7 }))
    const value = { id: licenceId, tier: 'free', maxRps: 0, iat: 0, exp: 0, cid: '' }
    expect(read(text)).toEqual({ ok: true, value })
  })

  const good = token()
  const [body = '', signature = ''] = good.split('.')
  const flipped = Buffer.from(signature, 'base64url')
  flipped[3]! ^= 1
  const none = encoded({ alg: 'none', typ: 'JWT' })
  test.each<[string, string, string]>([
    ['another key', token({}, stranger.privateKey), 'forged'],
    ['a changed signature', `${body}.${flipped.toString('base64url')}`, 'forged'],
    ['another payload', `${encoded(payload({ tier: 'custom' }))}.${signature}`, 'forged'],
    ['the empty text', '', 'malformed'],
    ['no signature', body, 'malformed'],
    ['an empty signature', `${body}.`, 'malformed'],
    ['a truncated signature', good.slice(0, -2), 'malformed'],
    [
      'a truncated payload',
      `${encoded(JSON.stringify(payload()).slice(0, -1))}.${signature}`,
      'forged',
    ],
    ['three parts', `${good}.${signature}`, 'malformed'],
    ['a JWT without an algorithm', `${none}.${body}.`, 'malformed'],
    ['a JWT with one', `${none}.${body}.${signature}`, 'malformed'],
    ['padding', `${good}==`, 'malformed'],
    ['spaces', `${body} .${signature}`, 'malformed'],
    ['the other base64', good.replaceAll('_', '/').replaceAll('-', '+') + '+', 'malformed'],
    ['too much text', `${encoded('x'.repeat(5_000))}.${signature}`, 'malformed'],
  ])('with %s is refused', (_name, text, code) => {
    expect(read(text)).toMatchObject({ ok: false, error: { code } })
  })

  test.each<[string, unknown, string]>([
    ['no id', { ...payload(), id: undefined }, '"id" is missing'],
    ['a short id', payload({ id: 'abc' }), '"id" is not'],
    ['an id of other letters', payload({ id: 'z'.repeat(32) }), '"id" is not'],
    ['no tier', { ...payload(), tier: undefined }, '"tier" is missing'],
    ['an unknown tier', { ...payload(), tier: 'trial' }, '"tier" is not'],
    ['a negative rate', payload({ maxRps: -1 }), '"maxRps" is not'],
    ['a rate as text', { ...payload(), maxRps: '9' }, '"maxRps" is not'],
    ['a broken expiry', payload({ exp: 1.5 }), '"exp" is not'],
    ['an endless expiry', { ...payload(), exp: 1e300 }, '"exp" is not'],
    ['a list as customer', { ...payload(), cid: [] }, '"cid" is not'],
    ['a long installation', payload({ iid: 'i'.repeat(256) }), '"iid" is not'],
    ['a list', [], 'no JSON object'],
    ['null', null, 'no JSON object'],
    ['no JSON', '{"id":', 'no JSON'],
  ])('with %s is rejected although it is signed', (_name, value, part) => {
    const text = signedOctets(typeof value === 'string' ? value : JSON.stringify(value))
    const { ok, error } = read(text) as { ok: false; error: { code: string; message: string } }
    expect([ok, error.code]).toEqual([false, 'rejected'])
    expect(error.message).toContain(part)
  })

  test('never shows itself in a message', () => {
    for (const text of ['secret.secret', signedOctets('{"id":"secret"}')]) {
      expect(JSON.stringify(read(text))).not.toMatch(/secret/)
    }
  })
})

describe('the key of a vendor', () => {
  const { publicKey, privateKey } = vendor
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const der = publicKey.export({ type: 'spki', format: 'der' })
  const raw = der.subarray(-32)
  test.each([
    ['PEM', pem],
    ['32 octets in base64', raw.toString('base64')],
    ['32 octets in base64url', raw.toString('base64url')],
    ['32 octets in hexadecimal', raw.toString('hex').toUpperCase()],
    ['DER in base64', der.toString('base64')],
    ['what keygen prints, with a line feed', `${formatVendorKey(publicKey)}\n`],
  ])('is read as %s', (_name, text) => {
    const key = parseVendorKey(text)
    expect(key.ok && key.value.equals(publicKey)).toBe(true)
  })

  test.each([
    ['the private key', privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), 'private'],
    ['another algorithm', rsa(), 'no Ed25519'],
    ['words', 'not a key', 'no Ed25519'],
    ['nothing', '', 'no Ed25519'],
    ['31 octets', Buffer.alloc(31, 9).toString('base64'), 'no Ed25519'],
  ])('is not %s', (_name, text, part) => {
    const key = parseVendorKey(text)
    expect(key.ok ? '' : key.error).toContain(part)
  })

  test('signs with the private half alone', () => {
    const other = createPublicKey(vendor.privateKey)
    expect(readToken(issueToken(payload(), vendor.privateKey), other).ok).toBe(true)
  })
})

function rsa(): string {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  return publicKey.export({ type: 'spki', format: 'pem' }).toString()
}
