import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'vitest'
import { soaSerialOf, trustedKeyFromPem, verifyChannelRecord } from '#bundle/signature/channel.ts'
import type { Clock } from '#lib/clock.ts'
import { nextPosition } from '#gitops/sync/publication.ts'
import type { Position, CommitPublication } from '#gitops/sync/publication.ts'
import { Publisher } from '#gitops/sync/publisher.ts'
import { emptyState, loadState, saveState } from '#gitops/sync/stored-state.ts'
import { gitSandbox } from '../../../support/git-sandbox.ts'
import { newSigningKey } from '../../../support/bundle-models.ts'

const [a, b, c] = ['a', 'b', 'c'].map((letter) => letter.repeat(64)) as [string, string, string]
const at = (seq: number, digest: string, previous = ''): Position & { previous: string } => ({
  seq,
  digest,
  previous,
})

const byAlice = { signer: 'alice', serial: 12, tree: '' }

const positions: readonly [
  title: string,
  stored: Position & { previous: string },
  node: Position | null,
  digest: string,
  expected: { seq: number; previous: string; isNews: boolean },
][] = [
  ['the first is 1', at(0, ''), null, a, { seq: 1, previous: '', isNews: true }],
  ['another digest is the next', at(4, a), at(4, a), b, { seq: 5, previous: a, isNews: true }],
  ['the same digest is no news', at(4, a, c), at(4, a), a, { seq: 4, previous: c, isNews: false }],
  [
    'a node without it gets it again under its seq',
    at(4, a, c),
    at(3, c),
    a,
    { seq: 4, previous: c, isNews: true },
  ],
  [
    'a node that lost everything gets it again',
    at(4, a, c),
    null,
    a,
    { seq: 4, previous: c, isNews: true },
  ],
  [
    'a lost state goes on behind the node',
    at(0, ''),
    at(7, a),
    b,
    { seq: 8, previous: a, isNews: true },
  ],
  [
    'a lost state finds the node with the same',
    at(0, ''),
    at(7, a),
    a,
    { seq: 7, previous: '', isNews: false },
  ],
  [
    'a seq with two digests is stepped over',
    at(5, a),
    at(5, b),
    a,
    { seq: 6, previous: a, isNews: true },
  ],
  ['going back is a new seq', at(5, b, a), at(5, b), a, { seq: 6, previous: b, isNews: true }],
]
for (const [title, stored, node, digest, expected] of positions) {
  test(`the next position, ${title}`, () =>
    assert.deepEqual(nextPosition(stored, node, digest), expected))
}

function publisher(resume: Position | null, onHandOver: () => void = () => undefined) {
  const box = gitSandbox()
  let nowMs = 1_000_000
  const clock: Clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
  const given: CommitPublication[] = []
  const key = newSigningKey()
  const statePath = box.at('gitops/state.json')
  const made = new Publisher({
    state: emptyState,
    statePath,
    resume,
    channel: 'main',
    key,
    recordTtlMs: 1_000,
    clock,
    handOver: (publication) => {
      onHandOver()
      given.push(publication)
    },
  })
  const bundle = (digest: string) =>
    made.sign('1'.repeat(40), {
      ok: true,
      bytes: new Uint8Array(4_096),
      digest,
      read: [],
      diagnostics: [],
      total: 0,
    })
  return { made, given, key, statePath, bundle, moveTo: (ms: number) => (nowMs = ms) }
}

test('the record is signed, in shared memory, and expires', () => {
  const { made, given, key, bundle } = publisher(null)
  made.publish(bundle(a), byAlice)
  const [first] = given
  assert(first !== undefined && first.bundle.buffer instanceof SharedArrayBuffer)
  const pem = key.publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const record = verifyChannelRecord(first.signedRecord, [trustedKeyFromPem(pem)])
  assert(record.ok)
  assert.deepEqual(
    [record.value.seq, record.value.digest, record.value.expiresAtMs - record.value.issuedAtMs],
    [1, a, 1_000],
  )
})

test('the state is on disk before anything is handed over', () => {
  let seen = ''
  const { made, bundle, statePath } = publisher(null, () => {
    seen = readFileSync(statePath, 'utf8')
  })
  made.publish(bundle(a), byAlice)
  assert.equal((JSON.parse(seen) as Position).digest, a)
})

test('another number of permitted agents is signed at once, the same one is no news', () => {
  const { made, given, bundle, moveTo } = publisher(null)
  made.permitAgents(Infinity)
  made.publish(bundle(a), byAlice)
  moveTo(1_000_100)
  for (const count of [10, 10, 0, Infinity]) made.permitAgents(count)
  const records = given.map(({ signedRecord: { record } }) => record)
  assert.deepEqual(
    records.map(({ seq, digest, agentsMax }) => [seq, digest, agentsMax]),
    [undefined, 10, 0, undefined].map((agentsMax) => [1, a, agentsMax]),
  )
  assert.equal(given[3]?.bundle, given[0]?.bundle)
  assert.equal('agentsMax' in records[3]!, false)
  made.permitAgents(10)
  made.publish(bundle(b), byAlice)
  assert.equal(given.at(-1)?.signedRecord.record.agentsMax, 10)
})

test('a record is renewed at half of its time, with the same seq, digest and bytes', () => {
  const { made, given, bundle, moveTo } = publisher(null)
  made.renewWhenDue()
  assert.equal(given.length, 0, 'nothing was published yet')
  made.publish(bundle(a), byAlice)
  moveTo(1_000_499)
  made.renewWhenDue()
  assert.equal(given.length, 1)
  moveTo(1_000_500)
  made.renewWhenDue()
  const [first, second] = given.map(({ signedRecord }) => signedRecord.record)
  assert.deepEqual(second, { ...first, issuedAtMs: 1_000_500, expiresAtMs: 1_001_500 })
  assert.equal(given[1]?.bundle, given[0]?.bundle)
})

test('a node that runs the bundle already gets a fresh record', () => {
  const { made, given, bundle } = publisher({ seq: 7, digest: a })
  made.publish(bundle(a), byAlice)
  assert.deepEqual(
    given.map(({ signedRecord }) => signedRecord.record.seq),
    [7],
  )
  made.publish(bundle(a), byAlice)
  assert.equal(given.length, 1, 'publishing the same again is nothing')
})

const damaged = [
  '',
  '{',
  '[]',
  'null',
  '{"commit":1}',
  '{"commit":"","signer":"","seq":-1,"digest":"","previous":""}',
]
for (const text of damaged) {
  test(`a state file of ${JSON.stringify(text)} does not pass for a first start`, () => {
    const box = gitSandbox()
    const state = loadState(box.write('data/gitops/state.json', text))
    assert(!state.ok)
    assert.match(state.error, /damaged.*gslbd trust reset/)
    assert(state.error.includes(`trust reset --data-dir ${box.at('data')}"`), state.error)
  })
}

test('the state reads back as it was written', () => {
  const path = gitSandbox().at('gitops/state.json')
  assert.deepEqual(loadState(path), { ok: true, value: emptyState })
  const state = {
    commit: '1'.repeat(40),
    tree: '2'.repeat(40),
    signer: 'alice',
    seq: 3,
    serial: 5,
    digest: a,
    previous: b,
    earlier: [{ commit: '3'.repeat(40), tree: '', untilMs: 7 }],
  }
  saveState(path, state)
  assert.deepEqual(loadState(path), { ok: true, value: state })
})

test('a state of before there were serials and earlier commits is read', () => {
  const old = { commit: '1'.repeat(40), signer: 'alice', seq: 3, digest: a, previous: b }
  const path = gitSandbox().write('gitops/state.json', JSON.stringify(old))
  const read = { ...old, serial: 0, tree: '', earlier: [] }
  assert.deepEqual(loadState(path), { ok: true, value: read })
})

test('the serial is in the record; a bundle that got another one is handed over again', () => {
  const { made, given, bundle } = publisher(null)
  for (const serial of [0, 12, 12, 13]) made.publish(bundle(a), { ...byAlice, serial })
  assert.deepEqual(
    given.map(({ signedRecord: { record } }) => [record.seq, soaSerialOf(record)]),
    [
      [1, 1],
      [1, 12],
      [1, 13],
    ],
  )
})
