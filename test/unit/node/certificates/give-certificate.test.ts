// What a control node gives of its certificate to which node, and when.
import { expect, test } from 'vitest'
import { newQuestionKey, openEnvelope } from '#fleet/keys/envelope.ts'
import { emptyState, printState, withCertificate } from '#integrations/acme/acme-state.ts'
import type { AcmeState, IssuedCertificate } from '#integrations/acme/acme-state.ts'
import {
  behindOf,
  givingCertificate,
  rollOutLimits,
  turnAtMs,
} from '#node/certificates/give-certificate.ts'
import {
  PulledCertificate,
  revisionOf,
  sentRevisionOf,
} from '#node/certificates/pulled-certificate.ts'
import { newSigningKey } from '#test/support/bundle-models.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { reportOf } from '#test/support/node-reports.ts'

const dayMs = 86_400_000
const began = Date.UTC(2026, 10, 30)
const certificate: IssuedCertificate = {
  ...{ directory: 'https://ca.test/dir', names: ['ns1.example.com'], chain: 'chain', key: 'key' },
  ...{ notBeforeMs: began - 3_600_000, notAfterMs: began + 90 * dayMs },
  ...{ issuedAtMs: began, renewAtMs: began + 60 * dayMs },
}
const newer = { ...certificate, chain: 'newer' }
const signer = newSigningKey()
const question = newQuestionKey()
const entries = { inner: { names: ['ns1.inner.example.com'] } }
const account = { directory: 'https://ca.test/dir', key: 'account key' }

function asked(
  known: number,
  more: {
    name?: string
    role?: 'dns' | 'agent'
    atMs?: number
    isCounted?: boolean
    has?: typeof newer | null
    beforeEndsMs?: number
  } = {},
) {
  const { name = 'far-1', role = 'dns', atMs = began, isCounted = true, has = newer } = more
  const { beforeEndsMs = null } = more
  const report = { ...reportOf(name, { role }), sealTo: question.sealTo }
  const give = givingCertificate({
    vault: {
      state: { ...emptyState, account, certificate: has, beforeEndsMs },
    },
    inventory: { counted: () => (isCounted ? report : undefined), isListed: () => true },
    entries,
    ...{ key: signer, clock: new FakeTime(atMs).clock },
  })
  const given = give({ report, revision: known })
  if (!given.ok) return given.error.code
  if (given.value === null) return 'nothing'
  const letter = openEnvelope(given.value, { node: name, key: question }, [signer], 'certificate')
  if (!letter.ok) return letter.error
  const { revision, content } = letter.value
  return { revision, text: Buffer.from(content).toString() }
}

const before = revisionOf({ certificate, more: {} })
const newest = revisionOf({ certificate: newer, more: {} })

test('a node without one gets it at once, and nothing of the account', () => {
  const given = asked(0)
  expect(given).toMatchObject({ revision: newest })
  expect(JSON.stringify(given)).not.toContain('account key')
})

test.each([
  ['that has it', asked(newest), 'nothing'],
  ['that is none of ours', asked(0, { isCounted: false }), 'stranger'],
  ['that only probes', asked(0, { role: 'agent' }), 'stranger'],
  ['before there is one', asked(0, { has: null }), 'nothing'],
])('a node %s gets none', (_what, given, is) => {
  expect(given).toBe(is)
})

test('a new certificate reaches nodes one after the other within ten minutes', () => {
  const nodes = Array.from({ length: 200 }, (_, i) => `far-${i}`)
  const have = (afterMs: number) =>
    nodes.filter((name) => asked(before, { name, atMs: began + afterMs }) !== 'nothing').length
  expect(have(0)).toBeLessThan(5)
  const half = have(rollOutLimits.spreadMs / 2)
  expect(half).toBeGreaterThan(70)
  expect(half).toBeLessThan(130)
  expect(have(rollOutLimits.spreadMs)).toBe(200)
  // The turn of a node stays.
  expect(nodes.map((name) => turnAtMs(newer, name, began))).toEqual(
    nodes.map((name) => turnAtMs(newer, name, began)),
  )
})

test('a clock that went back holds nothing up', () => {
  expect(asked(before, { atMs: began - dayMs })).toMatchObject({ revision: newest })
})

test('nothing waits for its turn where the certificate before ends first', () => {
  const name = Array.from({ length: 50 }, (_, i) => `far-${i}`).find(
    (one) => turnAtMs(newer, one, began) > began + rollOutLimits.spreadMs / 2,
  )!
  const soon = began + rollOutLimits.spreadMs
  expect(asked(before, { name, beforeEndsMs: soon })).toMatchObject({ revision: newest })
  expect(asked(before, { name, beforeEndsMs: soon + 1 })).toBe('nothing')
})

test('a challenge that is withdrawn before there is a certificate is told so', () => {
  expect(asked(7, { has: null })).toMatchObject({ revision: 0 })
})

test('a node keeps its valid certificate where none, or an older one, is sent', () => {
  let kept: AcmeState | undefined
  const copy = { read: () => kept, write: (state: AcmeState) => void (kept = state) }
  const time = new FakeTime(began)
  const pulled = new PulledCertificate(copy, time.clock.nowMs)
  const take = (state: Partial<AcmeState>) => {
    const all = { ...emptyState, ...state }
    return pulled.take(sentRevisionOf(all), printState(all)).ok
  }
  const later = { ...newer, issuedAtMs: began + 60 * dayMs, notBeforeMs: began + 60 * dayMs }
  const current = { ...later, notAfterMs: began + 150 * dayMs }
  expect(take({ certificate: current })).toBe(true)
  expect(take({ certificate })).toBe(false)
  const challenges = [{ host: 'www.example.net', token: 't', answer: 'a' }]
  for (const sent of [{ challenges }, {}]) {
    expect(take(sent)).toBe(true)
    expect(pulled.state).toEqual({ ...emptyState, challenges: [], ...sent, certificate: current })
    expect(kept).toEqual(pulled.state)
  }
  expect(pulled.sentRevision).toBe(0)
  // Once it has ended, any other is better than none.
  time.passTo(current.notAfterMs)
  expect(take({ certificate })).toBe(true)
})

test('beside an older certificate, those of other entries and challenges are taken', () => {
  const written: AcmeState[] = []
  const copy = { read: () => undefined, write: (state: AcmeState) => void written.push(state) }
  const pulled = new PulledCertificate(copy, () => began, ['', 'inner'])
  const take = (own: IssuedCertificate, chain: string, more: Partial<AcmeState> = {}) => {
    const one = { failure: null, renewal: null, beforeEndsMs: null }
    const inner = { ...one, certificate: { ...newer, chain } }
    const all = { ...emptyState, certificate: own, more: { inner }, ...more }
    return pulled.take(sentRevisionOf(all), printState(all))
  }
  const earlier = { ...certificate, notBeforeMs: began - dayMs, issuedAtMs: began - dayMs }
  const challenges = [{ host: 'www.example.net', token: 't', answer: 'a' }]
  expect(take(newer, 'inner 1').ok).toBe(true)
  const revision = pulled.sentRevision
  for (const what of [{ challenges }, { challenges }, {}]) {
    expect(take(earlier, 'inner 2', what)).toMatchObject({ ok: false })
    const inner = { certificate: { chain: 'inner 2' } }
    expect(written.at(-1)).toMatchObject({
      certificate: newer,
      challenges: [],
      more: { inner },
      ...what,
    })
  }
  expect([written.length, pulled.sentRevision]).toEqual([3, revision])
})

test('an envelope of another kind is not opened', () => {
  const report = { ...reportOf('far-1'), sealTo: question.sealTo }
  const give = givingCertificate({
    ...{ vault: { state: { ...emptyState, certificate } }, key: signer },
    ...{
      inventory: { counted: () => report, isListed: () => true },
      entries,
      clock: new FakeTime(began).clock,
    },
  })
  const given = give({ report, revision: 0 })
  if (!given.ok || given.value === null) throw new Error('it is given')
  expect(openEnvelope(given.value, { node: 'far-1', key: question }, [signer])).toEqual({
    ok: false,
    error: 'bad-signature',
  })
})

test('a node takes the certificate of the revision that was signed, and stores it', () => {
  const written: unknown[] = []
  const copy = { read: () => undefined, write: (state: unknown) => void written.push(state) }
  const pulled = new PulledCertificate(copy)
  let told = 0
  pulled.onChange(() => told++)
  const text = printState({ ...emptyState, certificate })
  expect(pulled.take(before + 1, text)).toMatchObject({ ok: false })
  expect(pulled.take(before, 'no state')).toMatchObject({ ok: false })
  expect(pulled.take(before, printState(emptyState))).toMatchObject({ ok: false })
  expect([told, pulled.revision, written]).toEqual([0, 0, []])
  expect(pulled.take(before, text)).toEqual({ ok: true, value: null })
  expect([told, pulled.revision, written.length]).toEqual([1, before, 1])
})

test('a node that has not taken it a quarter of an hour later is named', () => {
  const nodes = [
    ['has-it', newest],
    ['behind', before],
    ['never-had-one', 0],
    ['uses-none', undefined],
  ] as const
  const known = nodes.map(([name, one]) => ({
    report: reportOf(name, one === undefined ? {} : { certificate: one }),
    ...{
      isCounted: true,
      isMissing: false,
      ageMs: 0,
      clockOffsetMs: 0,
      clockRangeMs: [0, 0] as const,
      sharesName: false,
    },
  }))
  const vault = { state: { ...emptyState, certificate: newer } }
  const at = (afterMs: number) =>
    behindOf(vault, { all: () => known }, new FakeTime(began + afterMs).clock)
  expect(at(rollOutLimits.spreadMs)).toEqual([])
  expect(at(rollOutLimits.spreadMs + rollOutLimits.patienceMs)).toEqual(['behind', 'never-had-one'])
  expect(behindOf(null, { all: () => known }, new FakeTime(began).clock)).toEqual([])
})

test('challenges are sent at once, also where the certificate has its turn later', () => {
  const challenges = [{ host: 'www.example.net', token: 't', answer: 'a' }]
  const report = { ...reportOf('far-1'), sealTo: question.sealTo }
  const given = (state: Partial<typeof emptyState>, known: number) => {
    const answer = givingCertificate({
      ...{ vault: { state: { ...emptyState, ...state } }, key: signer },
      ...{
        inventory: { counted: () => report, isListed: () => true },
        entries,
        clock: new FakeTime(began).clock,
      },
    })({ report, revision: known })
    return answer.ok && answer.value !== null
  }
  expect(given({ challenges }, 0)).toBe(true)
  expect(given({ challenges, certificate: newer }, before)).toBe(true)
  expect(given({ certificate: newer }, before)).toBe(false)
})

test('a node gets the certificates that it uses, and a first one at once', () => {
  const inner = { ...newer, names: ['inner.example.com'], chain: 'inner' }
  const one = { failure: null, renewal: null, beforeEndsMs: null, certificate: inner }
  const state = { ...emptyState, account, certificate: newer, more: { inner: one } }
  const given = (acme: string[] | undefined, known: number) => {
    const own = { ...reportOf('far-1', acme && { acme }), sealTo: question.sealTo }
    const answer = givingCertificate({
      ...{
        vault: { state },
        inventory: { counted: () => own, isListed: () => true },
        entries,
      },
      ...{ key: signer, clock: new FakeTime(began).clock },
    })({ report: own, revision: known })
    if (!answer.ok || answer.value === null) return undefined
    const to = { node: 'far-1', key: question }
    const letter = openEnvelope(answer.value, to, [signer], 'certificate')
    return letter.ok ? letter.value : undefined
  }
  const chains = (acme?: string[]) => {
    const { content = new Uint8Array(), revision = -1 } = given(acme, 0) ?? {}
    const text = Buffer.from(content).toString()
    const pulled = new PulledCertificate(
      { read: () => undefined, write: () => undefined },
      () => began,
      acme,
    )
    expect(pulled.take(revision, text)).toMatchObject({ ok: true })
    expect(pulled.isComplete).toBe(true)
    return [...text.matchAll(/"chain":"(\w+)"/g)].map(([, chain]) => chain)
  }
  // Older versions say nothing of entries.
  expect(chains()).toEqual(['newer'])
  expect(chains(['inner'])).toEqual(['inner'])
  expect(chains(['', 'inner'])).toEqual(['newer', 'inner'])
  expect(given(['inner'], 7)).toBeDefined()
  expect(given([''], before)).toBeUndefined()
})

test('a node that keeps a certificate which a new database does not have yet is not named', () => {
  const node = {
    report: reportOf('far-1', { certificate: before, acme: ['', 'shop'] }),
    ...{
      isCounted: true,
      isMissing: false,
      ageMs: 0,
      clockOffsetMs: 0,
      clockRangeMs: [0, 0] as const,
      sharesName: false,
    },
  }
  const late = new FakeTime(began + rollOutLimits.spreadMs + rollOutLimits.patienceMs).clock
  const behind = (state: AcmeState) => behindOf({ state }, { all: () => [node] }, late)
  expect(behind({ ...emptyState, certificate: newer })).toEqual([])
  const ordered = withCertificate({ ...emptyState, certificate: newer }, 'shop', newer)
  expect(behind(ordered)).toEqual(['far-1'])
})

test.each([
  ['named and listed', ['', 'console'], ['far-1'], true, 'has it:', 'nothing new'],
  ['listed, and not named', ['', 'console'], ['near-1'], true, 'has it not', 'not name far-1'],
  ['of no node', ['console'], [], true, 'not name far-1', 'not name far-1'],
  [
    'named, by one that is not listed',
    ['', 'console'],
    ['far-1'],
    false,
    'has it not',
    'not listed',
  ],
  ['not named, and not asked for', [''], ['near-1'], false, 'has it not', 'nothing new'],
  ['in the settings no more', ['', 'console'], null, true, 'has it not', 'nothing new'],
])('an entry that is %s', (_what, acme, nodes, isListed, ...says) => {
  const one = { failure: null, renewal: null, beforeEndsMs: null, certificate: newer }
  const state = { ...emptyState, account, certificate, more: { console: one } }
  const report = { ...reportOf('far-1', { acme }), sealTo: question.sealTo }
  const give = givingCertificate({
    ...{ vault: { state }, inventory: { counted: () => report, isListed: () => isListed } },
    entries: nodes === null ? {} : { console: { names: [], nodes } },
    ...{ key: signer, clock: new FakeTime(began).clock },
  })
  let known = 0
  const said = (): string => {
    const given = give({ report, revision: known })
    if (!given.ok) return given.error.message
    if (given.value === null) return 'nothing new'
    const to = { node: 'far-1', key: question }
    const letter = openEnvelope(given.value, to, [signer], 'certificate')
    if (!letter.ok) return letter.error
    known = letter.value.revision
    const text = Buffer.from(letter.value.content).toString()
    return text.includes('"console"') ? 'it has it' : 'it has it not'
  }
  for (const what of says) expect(`${said()}:`).toContain(what)
})
