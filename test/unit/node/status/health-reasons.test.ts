// Tests the health of a node with a held repository: it names the commit that waits, and the one
// that serves.
import { expect, test } from 'vitest'
import { FakeTime } from '#test/support/fake-time.ts'
import { faultyOf, healthOf, isWithdrawn, missingKeysMessage } from '#node/status/health-reasons.ts'
import type { HealthParts } from '#node/status/health-reasons.ts'
import type { CertificateStatus } from '#server/tls/certificate.ts'
import { unknownStatus } from '#gitops/status/status.ts'
import type { GitopsStatus } from '#gitops/status/status.ts'

const head = (commit: string) => ({ commit, author: 'ann', committedAtMs: 0 })
const accepted = { commit: 'a1', seq: 1, signer: 'ann' } as NonNullable<GitopsStatus['accepted']>

const transfers = ['current', 'asking', 'refused', 'failing', 'held', 'expired'].map((state) => ({
  ...{ zone: `${state}.test.`, state },
}))

function said(
  status: Partial<GitopsStatus>,
  isServing: boolean,
  wanted = 'git-held',
  missingGeo: readonly string[] = [],
  certificate: ReturnType<HealthParts['certificates']>[0] | null = null,
  behind: ReturnType<HealthParts['behindNodes']> = [],
  newestKeyMs = 0,
): string | undefined {
  const node = { active: isServing ? {} : null, refused: null, expired: false, isStored: true }
  const parts: HealthParts = {
    clock: new FakeTime(Date.UTC(2026, 0, 1)).clock,
    node: { status: () => node } as unknown as HealthParts['node'],
    gitops: {
      status: () => ({ ...unknownStatus, sync: 'held', ...status }),
      config: { isReady: () => true } as HealthParts['gitops']['config'],
    },
    shared: () => ({ state: 'up' }),
    database: () => ({ isUp: true, wasThere: true }),
    canKeep: () => true,
    isBackedUp: () => true,
    journal: () => null,
    queryLog: () => null,
    isAudited: () => true,
    isSetupOpen: () => false,
    deliveryPhase: () => null,
    deliveryFault: () => '',
    areChecksOff: () => wanted === 'checks-off',
    missingGeo: () => missingGeo,
    absentZones: () => (wanted === 'zone-absent' ? ['big.test.', 'c.test.'] : []),
    zoneTransfers: () => (wanted === 'zone-transfer' ? transfers : []),
    missingKeys: () => [],
    newestKeyMs: () => newestKeyMs,
    keyTroubles: () => (wanted === 'zone-keys-unused' ? ['the database is older'] : []),
    dsFaults: () => [],
    behindNodes: () => behind,
    certificateBehind: () => (wanted === 'certificate-behind' ? ['far-1', 'far-2'] : []),
    anycast: () => null,
    certificates: () => (certificate === null ? [] : [certificate]),
  }
  return healthOf(parts).reasons.find(({ code }) => code === wanted)?.message
}

test.each<[string, Partial<GitopsStatus>, boolean, string]>([
  [
    'a newer commit that is held',
    { code: 'Unsigned', head: head('b2'), accepted },
    true,
    'The newest commit is held, and the accepted one serves.',
  ],
  [
    'an empty origin',
    { code: 'BranchMissing' },
    false,
    'The branch has no commit yet; nothing serves yet.',
  ],
  [
    'a branch that went away',
    { code: 'BranchMissing', accepted },
    true,
    'The branch is missing; the commit that was accepted from it serves.',
  ],
  [
    'a first commit that is held',
    { code: 'Unsigned', head: head('b2') },
    false,
    'The newest commit is held, and none is accepted; nothing serves yet.',
  ],
  [
    'a held head after what was accepted was forgotten',
    { code: 'Unsigned', head: head('b2') },
    true,
    'The newest commit is held, and none is accepted; the last bundle serves.',
  ],
  [
    'signers that cannot be read, with the accepted commit as the head',
    { code: 'SignersUnreadable', head: head('a1'), accepted },
    true,
    'The list of signers cannot be used: the next commit would be held; the accepted one serves.',
  ],
  [
    'an accepted commit that this version does not compile',
    { code: 'CompileFailed', head: head('a1'), accepted },
    true,
    'The accepted commit cannot be used again as it is; the last bundle serves.',
  ],
  [
    'a state that cannot be read',
    { code: 'StateUnreadable' },
    true,
    'What was accepted cannot be read; the last bundle serves.',
  ],
])('health says what is true of %s', (_what, status, isServing, sentence) => {
  expect(said(status, isServing)).toBe(`${sentence} GET /api/v1/gitops/status says why.`)
})

test.each([
  ['an hour', Date.UTC(2026, 0, 1, 1), undefined],
  [
    'years',
    Date.UTC(2028, 1, 29, 1, 2, 3, 4),
    'The clock of this node says 2026-01-01T00:00:00Z, and the newest commit is of ' +
      '2028-02-29T01:02:03Z: set the clock, else validators take what this node signs for ' +
      'expired. Where it is right, the other one was ahead.',
  ],
])('health knows a clock behind the newest commit, by %s', (_by, committedAtMs, sentence) => {
  const newest = { ...head('b2'), committedAtMs }
  expect(said({ sync: 'synced', head: newest, accepted }, true, 'clock-behind')).toBe(sentence)
})

test('a commit of a clock that is behind hides nothing where zones have keys', () => {
  const newest = { ...head('b2'), committedAtMs: Date.UTC(2026, 0, 1) }
  const made = Date.UTC(2026, 5, 1)
  const sentence = said({ head: newest }, true, 'clock-behind', [], null, [], made)
  expect(sentence).toMatch(/Z, and a key of a zone was made at 2026-06-01T00:00:00Z: set the clock/)
})

test('health names the zones from elsewhere whose records are not here', () => {
  expect(said({}, true, 'zone-absent')).toBe(
    'Records of big.test.; c.test. are answered SERVFAIL: no zone transfer has come yet, or what ' +
      'came has expired. GET /api/v1/zone-transfers says why.',
  )
})

test('health names the zones from elsewhere that are refused, held or failing', () => {
  expect(said({}, true, 'zone-transfer')).toBe(
    'Zones from elsewhere are not kept up to date: refused.test. (refused); failing.test. ' +
      '(failing); held.test. (held). GET /api/v1/zone-transfers says why.',
  )
})

test.each([
  ['nothing is to be announced', null, false],
  ['it has just started', { isAnnounced: false, reason: 'starting' }, false],
  ['they are announced', { isAnnounced: true, reason: null }, false],
  ['it was silent', { isAnnounced: false, reason: 'silent' }, true],
])('addresses are missing where they should be announced: not when %s', (_what, facts, is) => {
  const others = { isGuarded: true, driver: { isReachable: true } }
  expect(isWithdrawn(facts === null ? null : { ...facts, ...others })).toBe(is)
})

test('a write that failed by a mistake of gslbd is told while the repository is well', () => {
  const fault = { sync: 'synced', faultAtMs: 1 } as const
  expect(said(fault, true, 'write-failed')).toContain('The log says why')
  expect(said({ ...fault, faultAtMs: 0 }, true, 'write-failed')).toBeUndefined()
})

test('a geo database that is missing is a reason, in its words', () => {
  const sentences = ['There is no geo database.', 'And no other.']
  expect(said({}, true, 'geo-missing', sentences)).toBe(sentences.join(' '))
  expect(said({}, true, 'geo-missing')).toBeUndefined()
})

const statusOf = (fault: string | null, isEnding: boolean): CertificateStatus => ({
  ...{ name: 'dns.tls.certificates.inner', fault, expiresAtMs: 0, isEnding },
})

test.each([
  ['none', null, false],
  ['one that is well', statusOf(null, false), false],
  ['one that expires soon', statusOf(null, true), true],
  ['one whose files cannot be used', statusOf('ENOENT', false), true],
])('a certificate of DNS over TLS: %s', (_what, certificate, isTold) => {
  const told = said({}, true, 'tls-certificate', [], certificate)
  if (isTold) expect(told).toContain('need a look: dns.tls.certificates.inner ')
  else expect(told).toBeUndefined()
})

test('a certificate is named with its cause and its end', () => {
  const one = { name: 'dns.tls', fault: 'ENOENT', expiresAtMs: 86_400_000, isEnding: true }
  expect(faultyOf([one, { ...one, fault: null }, { ...one, expiresAtMs: 0 }])).toEqual([
    'dns.tls cannot be used: ENOENT; what serves ends 1970-01-02T00:00:00.000Z',
    'dns.tls ends 1970-01-02T00:00:00.000Z',
    'dns.tls cannot be used: ENOENT',
  ])
})

test('nodes that take no keys are named, and for how long', () => {
  const nodes = [
    { name: 'dns1', behindMs: 720_000, isWaitedFor: true },
    { name: 'dns2', behindMs: 90_000_000, isWaitedFor: false },
  ]
  expect(said({}, true, 'zone-keys-behind', [], null, nodes)).toContain(
    'dns1 for 12 minutes; dns2 for 1500 minutes, and rolls wait no more for it.',
  )
  expect(said({}, true, 'zone-keys-behind')).toBeUndefined()
})

test('a sentence about zones without a key that ends with a name has one dot', () => {
  expect(missingKeysMessage(['nobody has a key of a.test.'])).toMatch(/ a\.test\.$/)
  expect(missingKeysMessage(['DIR cannot be read'])).toMatch(/ read\.$/)
})

test('a reason that holds for all zones without a key is said once', () => {
  const message = missingKeysMessage(['set GSLB_SECRET_KEY', 'set GSLB_SECRET_KEY'])
  expect(message).toBe('Clients that validate get SERVFAIL: set GSLB_SECRET_KEY.')
})

test('checks that nobody makes are a notice', () => {
  expect(said({}, true, 'checks-off')).toMatch(/not probed/)
})
