// `gslbd lint --unused` against the API itself: what is unused at its places, and what is not
// known.
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { mkdirSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ok } from '#lib/result.ts'
import type { ObjectUse, UseRecord } from '#state/ports/object-use.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { rootKey, startConfigWorld } from '#test/support/config-world.ts'
import type { ConfigWorld } from '#test/support/config-world.ts'
import { startStandIn } from '#test/support/http-stand-in.ts'
import { runCliWith } from '#test/support/run-cli.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'

const nowMs = Date.UTC(2030, 0, 31)
let world: ConfigWorld
let record: UseRecord
let url: string
let directory: string
let spare = ''

const counted = { node: 'a', sinceMs: 0, untilMs: nowMs, isStopped: false }
beforeAll(async () => {
  world = await startConfigWorld({
    tenants: ['default'],
    ports: {
      clock: new FakeTime(nowMs).clock,
      objectUse: { read: async () => ok(record), gaps: () => ({ names: '', redirects: '' }) },
    },
  })
  const make = async (path: string, body: object) =>
    (await world.call(rootKey, 'POST', path, body)).body.id
  const pool = await make('/pools', { name: 'web' })
  await make(`/pools/${pool}/members`, { ipAddress: '192.0.2.1', port: 80 })
  spare = await make(`/pools/${pool}/members`, { ipAddress: '192.0.2.2', port: 80 })
  await make('/services', { name: 'www', domain: 'www.example.com.', poolId: pool, ttl: 3_600 })
  await world.app.listen({ host: '127.0.0.1', port: 0 })
  url = `http://127.0.0.1:${(world.app.server.address() as AddressInfo).port}`
  directory = makeTempDir('lint')
  for (const path of world.git('ls-tree', '-r', '--name-only', 'main').split('\n')) {
    mkdirSync(join(directory, path, '..'), { recursive: true })
    writeFileSync(join(directory, path), `${world.git('show', `main:${path}`)}\n`)
  }
})
afterAll(async () => {
  await world.close()
  removeTempDir(directory)
})
beforeEach(() => {
  const objects = new Map<string, ObjectUse>([
    ['name www.example.com.', { seenMs: 0, usedMs: nowMs }],
    [`member ${spare}`, { seenMs: 0, usedMs: null }],
  ])
  record = { nodes: [counted], objects, changes: new Map([[spare, 14]]) }
})

const lint = (...args: readonly string[]) =>
  runCliWith({ GSLB_API_KEY: rootKey }, 'lint', '--unused', '--url', url, ...args)

test('an unused object is shown at its place, beside a TTL that does not fit', async () => {
  const { exit, out } = await lint(directory)
  expect(exit).toBe(0)
  expect(out).toMatch(
    new RegExp(
      'pools/web\\.yaml:\\d+:\\d+: warning unused-object: ' +
        'no query of 30 days has used the member web/192\\.0\\.2\\.2',
    ),
  )
  expect(out).toMatch(/services\/www\.yaml:\d+:\d+: warning ttl-too-long: TTL 3600, but what/)
  expect(out).toContain('with a TTL of 300 clients have an old answer for at most')
  expect(out).toContain('not known of geo rules')
})

test('the same for programs, as "gslbd check" prints', async () => {
  const parsed = async (...args: readonly string[]) =>
    JSON.parse((await lint(directory, ...args)).out) as Printed
  const codes = (await parsed('--json')).diagnostics?.map(({ code }) => code)
  expect(codes).toEqual(expect.arrayContaining(['ttl-too-long', 'unused-object']))
  const [run] = (await parsed('--format', 'sarif')).runs ?? []
  expect(run?.results.map(({ ruleId }) => ruleId)).toEqual(codes)
})

interface Printed {
  readonly diagnostics?: readonly { readonly code: string }[]
  readonly runs?: readonly { readonly results: readonly { readonly ruleId: string }[] }[]
}

test('without a directory: names and files as the node has them', async () => {
  const { exit, out } = await lint()
  expect([exit, out]).toEqual([0, expect.stringContaining('unused member web/192.0.2.2 in ')])
  expect(out).toContain('1 unused, 1 used in 30 days')
  expect(JSON.parse((await lint('--json')).out)).toMatchObject({ isWhole: true })
})

test('while not all is counted nothing is called unused, and it says since when', async () => {
  record = { ...record, nodes: [counted, { ...counted, node: 'b', sinceMs: nowMs - 86_400_000 }] }
  const { exit, out } = await lint(directory)
  expect(exit).toBe(0)
  expect(out).not.toContain('unused-object')
  expect(out).toContain('counted since 2030-01-30T00:00Z')
  record = { ...record, nodes: [] }
  expect((await lint(directory)).out).toContain('no node has counted yet')
})

describe('faults of the call', () => {
  test.each([
    [['--days', '0'], 2, '--days is a whole number'],
    [['--format', 'sarif'], 2, 'name the directory'],
    [['--format', 'none'], 2, 'there is no format'],
    [['/nowhere'], 2, '/nowhere'],
  ])('%j', async (args, expected, said) => {
    const { exit, err } = await lint(...args)
    expect([exit, err]).toEqual([expected, expect.stringContaining(said)])
  })

  test('a server that is none of gslbd, or says something else', async () => {
    const standIn = await startStandIn(() => ({ status: 200, body: { days: 'x' } }))
    const { exit, err } = await lint('--url', standIn.url)
    expect([exit, err]).toEqual([1, expect.stringContaining('no answer of /api/v1/unused')])
  })
})
