import { expect, test } from 'vitest'
import type { GitopsStatus } from '#gitops/status/status.ts'
import { unknownStatus } from '#gitops/status/status.ts'
import { CommitRecorder } from '#jobs/commit-recorder.ts'
import { err, ok } from '#lib/result.ts'
import type { CommitActivation, CommitRecords, HeldCommit } from '#state/ports/commit-records.ts'
import { HandTimers } from './hand-timers.ts'

class Store implements CommitRecords {
  readonly calls: string[] = []
  readonly stored: CommitActivation[] = []
  readonly holding: HeldCommit[] = []
  isAway = false

  #call<T>(name: string, commits: readonly string[], work: () => T) {
    if (this.isAway) return Promise.resolve(err({ code: 'store-away', message: 'away' } as const))
    this.calls.push(`${name} ${commits.join(' ')}`)
    return Promise.resolve(ok(work()))
  }

  activated = (all: readonly CommitActivation[]) =>
    this.#call(
      'activated',
      all.map(({ commit }) => commit),
      () => void this.stored.push(...all),
    )
  held = (all: readonly HeldCommit[]) =>
    this.#call(
      'held',
      all.map(({ commit }) => commit),
      () => void this.holding.push(...all),
    )
  accepted = (all: readonly string[]) => this.#call('accepted', all, () => undefined)
  activationsOf = () => this.#call('activationsOf', [], () => this.stored)
  heldCommits = () => this.#call('heldCommits', [], () => this.holding)
}

function setUp(isThere = () => true) {
  const store = new Store()
  const warned: string[] = []
  const note = (_fields: object, message: string): void => void warned.push(message)
  const clock = new HandTimers()
  const log = { info: note, warn: note, error: note }
  const recorder = new CommitRecorder({ store, isThere, node: 'one', clock, log })
  return { store, warned, recorder, clock }
}

const head = (commit: string) => ({ commit, author: 'Ann', committedAtMs: 7 })
const status = (parts: Partial<GitopsStatus>): GitopsStatus => ({ ...unknownStatus, ...parts })
const accepted = (commit: string) => ({ commit, seq: 1, serial: 1, digest: '', signer: '' })

test('each commit is stored once, and a flush without news asks for nothing', async () => {
  const { store, recorder } = setUp()
  await recorder.flush()
  recorder.activated('c1')
  recorder.activated('c1')
  recorder.activated('c2')
  await recorder.flush()
  await recorder.flush()
  expect(store.calls).toEqual(['activated c1 c2'])
})

test('a record that is not stored is tried again, logged once, and shown meanwhile', async () => {
  const { store, recorder, warned, clock } = setUp()
  store.isAway = true
  recorder.activated('c1')
  recorder.statusIs(status({ sync: 'held', head: head('c2'), code: 'Unsigned', reason: 'r' }))
  await recorder.flush()
  await recorder.flush()
  expect(warned).toEqual(['what became of commits is not stored, tried again: away'])
  const own = { node: 'one', commit: 'c1', atMs: clock.nowMs() }
  expect(await recorder.activationsOf(['c1', 'c2'])).toEqual([own])
  expect(await recorder.heldCommits()).toMatchObject([{ commit: 'c2', code: 'Unsigned' }])
  store.isAway = false
  await recorder.flush()
  expect(store.calls).toEqual(['activated c1', 'held c2'])
  expect(await recorder.activationsOf(['c1'])).toEqual([own])
})

test('a database that was not made yet is not made for it', async () => {
  let isMade = false
  const { store, recorder } = setUp(() => isMade)
  recorder.activated('c1')
  await recorder.flush()
  expect(await recorder.activationsOf(['c1'])).toHaveLength(1)
  expect(store.calls).toEqual([])
  isMade = true
  await recorder.flush()
  expect(store.calls).toEqual(['activated c1'])
})

test('a held commit is one until it is accepted', async () => {
  const { store, recorder } = setUp()
  const commits = { head: head('c2'), accepted: accepted('c1') }
  recorder.statusIs(status({ sync: 'held', code: 'Unsigned', ...commits }))
  await recorder.flush()
  recorder.statusIs(status({ sync: 'synced', head: head('c2'), accepted: accepted('c2') }))
  expect(await recorder.heldCommits()).toEqual([])
  await recorder.flush()
  expect(store.calls).toEqual(['accepted c1', 'held c2', 'heldCommits ', 'accepted c2'])
})

test('an accepted head of which the next one would be held is not held', async () => {
  const { recorder } = setUp()
  const parts = { sync: 'held', head: head('c1'), accepted: accepted('c1') } as const
  recorder.statusIs(status({ ...parts, code: 'SignersUnreadable' }))
  recorder.statusIs(status({ sync: 'held', head: null, code: 'BranchMissing' }))
  expect(await recorder.heldCommits()).toEqual([])
})
