// gslbd push, against the API of a node.
import type { AddressInfo } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { createApp } from '#api/server/app.ts'
import { err, ok } from '#lib/result.ts'
import { Exit } from '#system/process/command.ts'
import type { AskedApply, ShownPlan, ShownPush } from '#ports/zone-pushes.ts'
import type { ServerPorts } from '#api/server/app.ts'
import { portsOf } from '#test/support/api-ports.ts'
import { runCli } from '#test/support/run-cli.ts'

const held: ShownPush = {
  ...{ name: 'aws', type: 'route53', zone: 'example.com.', state: 'held', node: 'c1', error: '' },
  ...{ lookedAtMs: 1_000, writtenAtMs: 0, plan: '0123456789abcdef', adds: 1, deletes: 30 },
  ttlChanges: 3,
  ...{ deletesMax: 10, same: 4, missing: 1, foreign: 2, conflicts: 1, skipped: 0, written: 9 },
  notes: ['www.example.com. A: it is an alias of Route 53'],
}
const plan: ShownPlan = {
  ...{ digest: '0123456789abcdef', adds: 1, deletes: 30, ttlChanges: 3, deletesMax: 10 },
  changes: [
    { name: 'a.example.com.', type: 'A', ttl: 60, adds: ['192.0.2.1'], deletes: ['192.0.2.2'] },
    { name: 'b.example.com.', type: 'A', ttl: 300, adds: [], deletes: [] },
  ],
  foreign: [{ name: 'x.example.com.', type: 'TXT', values: ['"x"'] }],
  conflicts: [{ name: 'www.example.com.', type: 'A', why: 'it is an alias of Route 53' }],
  skipped: [],
  counts: { changes: 32, foreign: 1, conflicts: 1, skipped: 0, same: 4, adoptable: 0 },
}

const asked: AskedApply[] = []
const zonePushes: ServerPorts['zonePushes'] = {
  list: () => [held],
  plan: async (name) => (name === 'aws' ? ok(plan) : name === 'lab' ? err('it is away') : null),
  ask: async (name, what) => {
    if (name !== 'aws') return null
    asked.push(what)
    return ok(null)
  },
}

const app = createApp(portsOf({ zonePushes }), [])
await app.listen({ host: '127.0.0.1', port: 0 })
afterAll(() => app.close())
const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
const run = (...args: string[]) => runCli('push', ...args, '--url', url)

test('the status says how each push stands, and fails where one is held', async () => {
  const { exit, out } = await run('status')
  expect(exit).toBe(Exit.ErrorsFound)
  expect(out).toBe(
    [
      'aws: held',
      '  route53 example.com., looked at 1970-01-01T00:00:01.000Z by c1',
      '  4 records are there; of others 2, in the way 1, taken away 1',
      '  to write 1, to delete 30, 3 with another TTL (plan 0123456789abcdef)',
      '  held: one push may delete 10',
      '  www.example.com. A: it is an alias of Route 53',
      '',
    ].join('\n'),
  )
})

test('a plan lists what would be written, what is of others, and what is in the way', async () => {
  const { exit, out } = await run('plan', 'aws')
  expect(exit).toBe(Exit.ErrorsFound)
  expect(out).toBe(
    [
      'aws: plan 0123456789abcdef: 1 to write, 30 to delete, 3 with another TTL, which is held: one push may delete 10',
      '  - a.example.com. A 192.0.2.2',
      '  + a.example.com. 60 A 192.0.2.1',
      '  ~ b.example.com. A: TTL 300',
      '  = x.example.com. TXT "x" (of others)',
      '  ! www.example.com. A: it is an alias of Route 53',
      '  … and 30 more of changes',
      '',
    ].join('\n'),
  )
  const json = await run('plan', 'aws', '--json')
  expect(JSON.parse(json.out)).toEqual(plan)
})

test('a push is asked for, with the plan that is permitted', async () => {
  expect(await run('apply', 'aws')).toMatchObject({ exit: Exit.Ok })
  const args = ['apply', 'aws', '--plan', '0123456789abcdef', '--adopt']
  expect(await run(...args)).toMatchObject({ exit: Exit.Ok })
  expect(asked).toEqual([
    { plan: '', adopt: false },
    { plan: '0123456789abcdef', adopt: true },
  ])
})

test.each([
  [['plan', 'lab'], 'it is away'],
  [['plan', 'other'], 'there is no such target'],
  [['apply', 'other'], 'there is no such target'],
  [['apply', 'aws', '--plan', 'x'], '400'],
])('%j fails, and says why', async (args, why) => {
  const { exit, err: said } = await run(...args)
  expect([exit, said]).toEqual([Exit.ErrorsFound, expect.stringContaining(why)])
})

test.each([[[]], [['status', 'aws']], [['plan']], [['plan', 'aws', '--adopt']], [['drop', 'aws']]])(
  '%j is a wrong call',
  async (args) => {
    expect((await run(...args)).exit).toBe(Exit.Usage)
  },
)
