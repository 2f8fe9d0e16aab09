// gslbd why as an operator calls it: a data directory with a journal, and what is there beside it.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Bundle } from '#bundle/format/bundle.ts'
import { loadBundle } from '#bundle/load/load.ts'
import { lenientPolicy } from '#settings/check-policy.ts'
import { filesOfCommit, openGitPlace } from '#gitops/checkout/git-tree.ts'
import { Exit } from '#system/process/command.ts'
import { readPastInstant } from '#why/instant-text.ts'
import { createCompiler } from '#compiler/compile.ts'
import { createRoutingState, rebuildPool } from '#routing/state/candidates.ts'
import { Journal } from '#journal/journal.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { gitSandbox } from '#test/support/git-sandbox.ts'
import type { GitSandbox } from '#test/support/git-sandbox.ts'
import { runCli } from '#test/support/run-cli.ts'

/** Behind any clock that runs this test. */
const startMs = Date.UTC(2026, 2, 1, 3, 0)
const aheadMs = Date.UTC(2999, 0, 1)
const iso = (afterMs: number): string => new Date(startMs + afterMs).toISOString()
const minuteMs = 60_000
const removals: (() => void)[] = []
afterAll(() => {
  for (const remove of removals) remove()
})

let box: GitSandbox
let commit: string

/** A repository with one commit, and a node whose journal has it for ten minutes. */
beforeAll(async () => {
  box = gitSandbox((remove) => removals.push(remove))
  cpSync(join(import.meta.dirname, '../../../examples/quickstart'), box.at('repo'), {
    recursive: true,
  })
  box.git(box.at('repo'), 'init', '-q', '-b', 'main')
  box.git(box.at('repo'), 'add', '.')
  box.git(box.at('repo'), 'commit', '-q', '-m', 'first addresses')
  commit = box.git(box.at('repo'), 'rev-parse', 'HEAD')
  await record(box.at('data'), await compiled())
})

async function compiled(): Promise<Bundle> {
  const place = openGitPlace(box.at('repo'), process.env['PATH'] ?? '')
  const read = place.ok ? await filesOfCommit(place.value, commit) : place
  if (!read.ok) throw new Error(read.error)
  const result = createCompiler({ checkPolicy: lenientPolicy }).compile(read.value, { commit })
  const loaded = result.ok ? loadBundle(result.bundle.bytes) : undefined
  if (loaded?.ok !== true) throw new Error('the example compiles')
  return loaded.value
}

/** At 03:05 the first member of the first pool goes down; at 03:10 the node is stopped. */
async function record(
  dataDir: string,
  bundle: Bundle,
  digest = bundle.digest,
  fromMs = startMs,
): Promise<void> {
  const time = new FakeTime(fromMs)
  const silent = (): void => undefined
  const journal = new Journal({
    ...{ directory: join(dataDir, 'journal'), bytesMax: 1e8, ageMaxMs: 1e10 },
    ...{ node: 'fra1', version: '0', clock: time.clock, after: time.after },
    log: { info: silent, warn: silent, error: silent },
  })
  const state = createRoutingState(bundle, 1)
  journal.serves({ digest, commit, seq: 1 }, bundle, state)
  journal.settled()
  time.pass(5 * minuteMs)
  state.memberHealthy[0] = 0
  rebuildPool(bundle, state, 0)
  journal.poolChanged(state, 0, true)
  time.pass(5 * minuteMs)
  await journal.stop()
}

const why = (...argv: string[]) => runCli('why', ...argv)
const ofData = (name = 'data') => ['--data-dir', box.at(name)]

interface Shown {
  readonly isCertain: boolean
  readonly node: string
  readonly digest: string
  readonly since: string
  readonly bundleFrom: string
  readonly commit: { readonly id: string; readonly author: string; readonly subject: string }
  readonly shares: readonly { readonly member: string; readonly probability: number }[]
  readonly notes: readonly string[]
  readonly rcode: string
  readonly service: { readonly members: readonly { readonly standing: string }[] } | null
}

async function shown(...argv: string[]): Promise<Shown> {
  const done = await why(...argv, '--json')
  expect([done.exit, done.err]).toEqual([Exit.Ok, ''])
  return JSON.parse(done.out) as Shown
}

describe('gslbd why', () => {
  test('shows the answer, the health and the commit of then', async () => {
    const more = [...ofData(), '--repository', box.at('repo'), '--client', '203.0.113.9']
    const before = await shown('www.example.com.', '--at', iso(minuteMs), ...more)
    expect(before).toMatchObject({
      ...{ node: 'fra1', since: iso(0), bundleFrom: 'the commit, compiled again' },
      commit: { id: commit, author: 'Alice <alice@example.com>', subject: 'first addresses' },
    })
    expect(before.rcode).toBe('NOERROR')
    const after = await shown('www.example.com.', '--at', iso(6 * minuteMs), ...more)
    const standings = (one: Shown) => one.service!.members.map((m) => m.standing)
    expect(standings(before)).not.toContain('unhealthy')
    expect(standings(after).filter((standing) => standing === 'unhealthy')).toHaveLength(1)
    expect(after.shares.length).toBe(before.shares.length - 1)
  })

  test('says it to people in lines', async () => {
    const more = [...ofData(), '--repository', box.at('repo')]
    const { exit, out } = await why('www.example.com.', '--at', iso(6 * minuteMs), ...more)
    expect(exit).toBe(Exit.Ok)
    expect(out).toContain(`commit    ${commit} first addresses`)
    expect(out).toContain('by Alice <alice@example.com>')
    expect(out).toContain('out: unhealthy')
    expect(out).toMatch(/^(certain|chance) {3}/m)
  })

  test('without settings takes a node with records of run time to write any type', async () => {
    const more = [...ofData(), '--repository', box.at('repo'), '--type', 'SRV']
    const asked = () => shown('www.example.com.', '--at', iso(minuteMs), ...more)
    expect((await asked()).notes).toEqual([])
    const copy = join(box.at('data'), 'dynamic-dns.copy')
    writeFileSync(copy, '')
    const { notes } = await asked()
    rmSync(copy)
    expect(notes.join()).toContain('had been written at run time')
  })

  test('without the commit says which one to fetch', async () => {
    const { exit, err } = await why('www.example.com.', '--at', iso(minuteMs), ...ofData())
    expect(exit).toBe(Exit.ErrorsFound)
    expect(err).toContain(`fetch commit ${commit}`)
  })

  test('shows the future entries in the journal of a node whose clock was ahead', async () => {
    const bundle = await compiled()
    await record(box.at('ahead'), bundle, bundle.digest, aheadMs)
    const more = [...ofData('ahead'), '--repository', box.at('repo')]
    const at = new Date(aheadMs + minuteMs).toISOString()
    expect(await shown('www.example.com.', '--at', at, ...more)).toMatchObject({ node: 'fra1' })
  })

  test('takes no bundle but the one of then', async () => {
    await record(box.at('other'), await compiled(), 'e'.repeat(64))
    const more = [...ofData('other'), '--repository', box.at('repo')]
    const { exit, err } = await why('www.example.com.', '--at', iso(minuteMs), ...more)
    expect(exit).toBe(Exit.ErrorsFound)
    expect(err).toContain('eeeeeeeeeeee')
    expect(err).toContain('which is another bundle')
  })

  test.each([
    [iso(-minuteMs), 'is before the journal, which begins at 2026-03-01T03:00:00.000Z'],
    [iso(30 * minuteMs), 'the node was stopped at'],
    ['2999-01-01T00:00:00Z', 'is in the future, so there is no record of it yet: "gslbd simulate'],
  ])('at %s: %s', async (at, sentence) => {
    const { exit, err } = await why('www.example.com.', '--at', at, ...ofData())
    expect(exit).toBe(Exit.ErrorsFound)
    expect(err).toContain(sentence)
  })

  test('says so for a directory without a journal', async () => {
    mkdirSync(box.at('empty'))
    const { exit, err } = await why('www.example.com.', '--at', '03:12', ...ofData('empty'))
    expect([exit, err.includes('there is no journal')]).toEqual([Exit.ErrorsFound, true])
    rmSync(box.at('empty'), { recursive: true })
  })

  test('in the future: no fault of the node is guessed, and no journal is missed', async () => {
    mkdirSync(box.at('new'))
    for (const folder of ['data', 'new']) {
      const at = ['--at', '2999-01-01T00:00:00Z', ...ofData(folder)]
      const { err } = await why('www.example.com.', ...at)
      expect(err).not.toMatch(/stopped|says nothing|there is no journal|\.;/)
    }
    rmSync(box.at('new'), { recursive: true })
  })

  const flipped = (octets: Buffer, at: number): Buffer => {
    octets[at]! ^= 0xff
    return octets
  }
  const atBeginning = 'is damaged at its beginning'
  test.each([
    ['its first octet flipped', (octets: Buffer) => flipped(octets, 0), atBeginning],
    ['its 40th octet flipped', (octets: Buffer) => flipped(octets, 40), atBeginning],
    ['its first octets gone', (octets: Buffer) => octets.subarray(100), atBeginning],
    ['its end gone, but for a few', (octets: Buffer) => octets.subarray(0, 30), atBeginning],
    ['nothing in it', () => Buffer.alloc(0), 'is empty'],
  ])('names the file in a journal whose file has %s', async (_, damage, words) => {
    await record(box.at('damaged'), await compiled())
    const file = box.at('damaged/journal/00000001.journal')
    writeFileSync(file, damage(readFileSync(file)))
    const at = ['--at', iso(minuteMs), ...ofData('damaged')]
    const { exit, err } = await why('www.example.com.', ...at)
    rmSync(box.at('damaged'), { recursive: true })
    const told = `gslbd why: the journal cannot be read: ${file} ${words}`
    expect([exit, err.startsWith(told), err]).toEqual([Exit.ErrorsFound, true, err])
  })

  test('names a damaged file beside others, which say nothing of the instant', async () => {
    await record(box.at('partly'), await compiled())
    const file = box.at('partly/journal/00000002.journal')
    writeFileSync(file, 'damaged')
    const at = ['--at', iso(30 * minuteMs), ...ofData('partly')]
    const { exit, err } = await why('www.example.com.', ...at)
    expect([exit, err.includes(`; ${file} ${atBeginning}`)]).toEqual([Exit.ErrorsFound, true])
    expect(err).toContain('the node was stopped at')
    rmSync(box.at('partly'), { recursive: true })
  })

  test('says so for a journal that cannot be read', async () => {
    mkdirSync(box.at('unreadable'))
    // Tests may run as root, who may read everything: a directory that is none stands for it.
    writeFileSync(box.at('unreadable/journal'), '')
    const { exit, err } = await why('www.example.com.', '--at', '03:12', ...ofData('unreadable'))
    expect([exit, err.includes('journal: ENOTDIR')]).toEqual([Exit.ErrorsFound, true])
    rmSync(box.at('unreadable'), { recursive: true })
  })

  test.each([
    [['--at', iso(0)], 'give one name'],
    [['www.example.com.'], 'say when, such as --at 5m'],
    [['www.example.com.', '--at', 'yesterday'], 'is no instant'],
    [['www.example.com.', '--at', '25:00'], 'is no instant'],
    [['www.example.com.', '--at', '03:12', '--type', 'AB'], '--type'],
  ])('%j is a wrong call', async (argv, sentence) => {
    const { exit, err } = await why(...argv)
    expect([exit, err.includes(sentence)]).toEqual([Exit.Usage, true])
  })
})

describe('an instant', () => {
  const nowMs = Date.UTC(2027, 2, 1, 2, 0)
  test.each([
    ['01:30', Date.UTC(2027, 2, 1, 1, 30)],
    ['02:00', nowMs],
    ['03:12', Date.UTC(2027, 1, 28, 3, 12)],
    ['03:12:05.25', Date.UTC(2027, 1, 28, 3, 12, 5, 250)],
    ['90m', nowMs - 90 * minuteMs],
    ['2027-01-31T12:00:00+01:00', Date.UTC(2027, 0, 31, 11)],
  ])('%s is the last one that has been', (text, atMs) => {
    expect(readPastInstant(text, nowMs)).toEqual({ ok: true, value: atMs })
  })
})
