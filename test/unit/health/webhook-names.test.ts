// Where a webhook may lead, over a real resolver and a name server that lies.
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'

interface Reached {
  readonly outcome: string
  readonly reason: string
  /** Connections to the server on the Internet, and to the one that must not be reached. */
  readonly outside: number
  readonly inside: number
}

const directory = makeTempDir()
afterAll(() => {
  removeTempDir(directory)
})

let results: Readonly<Record<string, Reached>>
let asked: Readonly<Record<string, number>>

beforeAll(async () => {
  const resolvConf = join(directory, 'resolv.conf')
  writeFileSync(resolvConf, 'nameserver 127.0.0.1\noptions timeout:2 attempts:1\n')
  const steps = [
    'ip link set lo up',
    'ip address add 192.31.196.7/32 dev lo',
    `mount --bind ${resolvConf} /etc/resolv.conf`,
    'exec "$@"',
  ]
  const child = join(import.meta.dirname, 'webhook-child.ts')
  const { stdout } = await promisify(execFile)('unshare', [
    ...['--map-root-user', '--net', '--mount', 'sh', '-c', steps.join(' && '), 'sh'],
    ...[process.execPath, child],
  ])
  ;({ results, asked } = JSON.parse(stdout) as {
    results: typeof results
    asked: typeof asked
  })
}, 30_000)

const internal = 'webhookURL leads to an internal address, which health.webhookAllowedHosts lacks'
const rows: readonly (readonly [title: string, key: string, Reached])[] = [
  [
    'a name of the Internet is asked',
    'outside.test',
    { outcome: 'success', reason: '', outside: 1, inside: 0 },
  ],
  [
    'a name with a final dot is asked, and sent without the dot',
    'outside.test.',
    { outcome: 'success', reason: '', outside: 1, inside: 0 },
  ],
  [
    'a name of an internal address is not',
    'inside.test',
    { outcome: 'failure', reason: internal, outside: 0, inside: 0 },
  ],
  [
    'nor is one of an internal address in the form of IPv6',
    'mapped.test',
    { outcome: 'failure', reason: internal, outside: 0, inside: 0 },
  ],
  [
    'of two addresses only the one that is not internal is asked',
    'both.test',
    { outcome: 'success', reason: '', outside: 1, inside: 0 },
  ],
  [
    'a name that leads inside after it was checked still leads to the address that was checked',
    'rebinding.test',
    { outcome: 'success', reason: '', outside: 1, inside: 0 },
  ],
  [
    'and the next time it is refused',
    'rebinding.test, again',
    { outcome: 'failure', reason: internal, outside: 0, inside: 0 },
  ],
  [
    'a redirect is a failure, and is not followed',
    'redirect',
    { outcome: 'failure', reason: 'HTTP 302, expected 200-299', outside: 1, inside: 0 },
  ],
  [
    'an allowed network may be asked',
    'inside.test, allowed',
    { outcome: 'success', reason: '', outside: 0, inside: 1 },
  ],
  [
    'a name that does not exist is a failure',
    'absent.test',
    {
      outcome: 'failure',
      reason: 'the name in webhookURL has no address',
      outside: 0,
      inside: 0,
    },
  ],
  [
    'timeoutMs covers the lookup',
    'silent.test',
    { outcome: 'timeout', reason: 'no result within 1000 ms', outside: 0, inside: 0 },
  ],
]
test.each(rows)('%s', (_title, key, expected) => {
  expect(results[key]).toEqual(expected)
})

test('a name is looked up once per probe', () => {
  expect([asked['outside.test'], asked['rebinding.test']]).toEqual([3, 2])
})
