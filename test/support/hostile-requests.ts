// Generates requests of a malicious client: paths, headers, bytes and credentials.
import fc from 'fast-check'
import { tokenHash } from '#access/auth/policy.ts'
import { keyOf } from './config-world.ts'
import { valueOf } from './store-values.ts'
import type { WholeWorld } from './whole-world.ts'

export const hostileTexts = [
  '',
  '\0',
  '__proto__',
  '../../etc',
  'a'.repeat(300),
  '%00',
  '💥',
  '\ud800',
  '-1',
] as const

const segments = [
  ...['', '.', '..', '%2e%2e', '..%2f', '%2F', '%5c', '\\', '%', '%zz', '%00', '%c0%ae', '%ff'],
  ...['api', 'v1', 'v2', 'API', 'pools', 'members', 'services', 'users', 'tenants', 'metrics'],
  ...['openapi.json', 'acme', 'constructor', '__proto__', ':id', '{id}', '*', ';', '#', '@', 'a'],
  ...['a'.repeat(300), 'b'.repeat(5_000), '%41'.repeat(200), '..;', '~', '%E2%80%AE', '%F0%9F%92'],
]
const queries = ['', '?', '??', '?limit', '?limit=-1', '?limit=1&limit=2', '?cursor=%', '?%00=1']

/** A target with no byte that ends it. */
export const hostilePath: fc.Arbitrary<string> = fc
  .tuple(
    fc.boolean(),
    fc.array(fc.constantFrom(...segments), { maxLength: 6 }),
    fc.constantFrom(...queries),
  )
  .map(([isBelow, parts, query]) => `${isBelow ? '/api/v1/' : '/'}${parts.join('/')}${query}`)

const words = [
  ...['', ' ', ',', '*', '"x"', 'W/"x"', '"', 'null', 'https://evil.example', 'http://[::1', '-1'],
  ...['127.0.0.1', '::ffff:127.0.0.1', '10.0.0.1, 127.0.0.1', 'for=127.0.0.1;proto=https', '\xff'],
  ...['https', 'gzip', 'application/json', 'websocket', 'Upgrade', '100-continue', 'bytes=0-'],
  ...['DELETE', 'zip\tzap', 'x'.repeat(4_000), '"' + 'y'.repeat(200) + '"', '"a", '.repeat(100)],
]
const headerNames = [
  ...['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'forwarded', 'origin', 'referer'],
  ...['if-match', 'if-none-match', 'if-modified-since', 'accept', 'accept-encoding', 'range'],
  ...['content-encoding', 'x-http-method-override', 'x-request-id', '__proto__', 'constructor'],
  ...['sec-fetch-site', 'x-real-ip', 'host', 'via', 'te', 'accept-version', 'x-tenant', 'date'],
]

export type Header = readonly [name: string, value: string]

export const hostileHeaders: fc.Arbitrary<readonly Header[]> = fc.array(
  fc.tuple(fc.constantFrom(...headerNames), fc.constantFrom(...words)),
  { maxLength: 4 },
)

/** Forms of the header Authorization, good and bad, around a token. */
export const authorizations: readonly ((token: string) => string)[] = [
  (token) => `bearer ${token}`,
  (token) => `Bearer  ${token} `,
  (token) => `Bearer ${token},Bearer ${token}`,
  (token) => `Bearer\t${token}`,
  (token) => `Token ${token}`,
  (token) => `Basic ${Buffer.from(`admin:${token}`).toString('base64')}`,
  (token) => token,
  () => 'Bearer',
  () => 'Bearer \xff\xfe',
  () => `Bearer ${'t'.repeat(5_000)}`,
]

/** A text in which some bytes are not UTF-8, or are missing. */
export function damaged(text: string): fc.Arbitrary<Buffer> {
  const bytes = Buffer.from(text)
  const bad = fc.constantFrom([0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90], [0], [])
  return fc
    .tuple(fc.nat(bytes.length), fc.nat(3), bad)
    .map(([at, cut, wrong]) =>
      Buffer.concat([bytes.subarray(0, at), Buffer.from(wrong), bytes.subarray(at + cut)]),
    )
}

/** Credentials that resemble valid ones; none may grant access. */
export async function forgedBearers({ world, bearerOf }: WholeWorld): Promise<Map<string, string>> {
  const session = await bearerOf('zenith tenant_admin')
  const key = keyOf('zenith')
  const expired = tokenHash('expired').slice(0, 43)
  const identity = { userId: 'acme-tenant_admin', tenantId: 'acme', role: 'tenant_admin' }
  const { sessions } = world.ports
  await valueOf(sessions.create(tokenHash(expired), { ...identity, createdAtMs: 1 }, 0))
  return new Map([
    ['junk', 'j'.repeat(43)],
    ['a session of another installation', tokenHash('elsewhere').slice(0, 43)],
    ['a session that is over', expired],
    ['a session with another end', changed(session)],
    ['what the store keeps of a session', tokenHash(session)],
    ['a key with another end', changed(key)],
    ['half a key', key.slice(0, 32)],
    ['what the store keeps of a key', tokenHash(key)],
  ])
}

function changed(token: string): string {
  return token.slice(0, -1) + (token.endsWith('0') ? '1' : '0')
}
