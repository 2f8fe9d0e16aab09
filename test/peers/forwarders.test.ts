// Knot Resolver and dnsmasq ask a node for one zone: which lines of theirs give its answers.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Rcode } from '#dns/rcode.ts'
import { ask } from '#test/support/dns/client.ts'
import { startNode } from '#test/support/dns/node.ts'
import type { RunningNode } from '#test/support/dns/node.ts'
import { freePort } from '#test/support/free-port.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const zone = 'corp.test.'
const text = `$ORIGIN ${zone}
@ 60 SOA ns1 hostmaster 1 3600 600 86400 30
@ 60 NS ns1
ns1 60 A 127.0.0.1
www 60 A 10.0.0.1
out 60 CNAME target.example.net.
`
let node: RunningNode
beforeAll(async () => {
  node = await startNode({ name: zone, text })
})
afterAll(() => node?.stop())

interface Given {
  readonly rcode: number
  /** Types and data, in order. */
  readonly answer: readonly string[]
}

/** Starts a resolver, asks until it answers at all, and stops it. */
async function askThrough(
  command: (directory: string, port: number) => readonly string[],
  names: readonly string[],
): Promise<readonly Given[]> {
  const directory = makeTempDir('forwarder')
  const port = await freePort()
  const [program, ...args] = command(directory, port)
  const child = spawn(program!, args, {
    stdio: 'ignore',
    env: { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` },
  })
  const ended = once(child, 'close')
  const from = { host: '127.0.0.1', port }
  try {
    await waitUntil(`${program} to listen`, () =>
      ask(from, `first.${zone} A`, { rd: true }).then(
        () => true,
        () => false,
      ),
    )
    const replies: Given[] = []
    for (const name of names) {
      const { rcode, answer } = await ask(from, `${name}.${zone} A`, { rd: true })
      replies.push({ rcode, answer: answer.map(({ rdataText }) => rdataText) })
    }
    return replies
  } finally {
    child.kill('SIGKILL')
    await ended
    removeTempDir(directory)
  }
}

const kresd =
  (action: string, more = '') =>
  (directory: string, port: number): readonly string[] => {
    const file = join(directory, 'kresd.conf')
    writeFileSync(
      file,
      `net.listen('127.0.0.1', ${port}, { kind = 'dns' })
cache.size = 10 * MB
modules.unload('priming')
${more}
local target = policy.${action}('127.0.0.1@${node.port}')
policy.add(policy.suffix(target, policy.todnames({ '${zone}' })))
`,
    )
    return ['kresd', '-n', '-c', file, directory]
  }

const dnsmasq =
  (...options: readonly string[]) =>
  (_directory: string, port: number): readonly string[] => [
    ...['dnsmasq', '--keep-in-foreground', '--conf-file=/dev/null', `--port=${port}`],
    ...['--listen-address=127.0.0.1', '--bind-interfaces', '--no-resolv', '--no-hosts', '--user='],
    ...[`--server=/${zone}/127.0.0.1#${node.port}`, ...options],
  ]

const address = { rcode: Rcode.NoError, answer: ['10.0.0.1'] }
const aliasAlone = { rcode: Rcode.NoError, answer: ['target.example.net.'] }
const insecure = `trust_anchors.set_insecure({ '${zone}' })`
const trustAnchors = '--conf-file=/usr/share/dnsmasq-base/trust-anchors.conf'

test.each([
  ['kresd, policy.STUB', kresd('STUB'), address, aliasAlone],
  ['dnsmasq', dnsmasq(), address, aliasAlone],
  ['dnsmasq with --dnssec', dnsmasq('--dnssec', trustAnchors), address, aliasAlone],
  [
    'dnsmasq with --rebind-domain-ok',
    dnsmasq('--stop-dns-rebind', `--rebind-domain-ok=/${zone}/`),
    ...[address, aliasAlone],
  ],
])(
  '%s gives addresses, and an alias without its target',
  async (_name, command, ...expected) => {
    expect(await askThrough(command, ['www', 'out'])).toEqual(expected)
  },
  60_000,
)

test('dnsmasq with --stop-dns-rebind leaves private addresses out', async () => {
  const [www] = await askThrough(dnsmasq('--stop-dns-rebind'), ['www'])
  expect(www).toEqual({ rcode: Rcode.NoError, answer: [] })
}, 60_000)

test('kresd with policy.FORWARD believes nothing that is not signed', async () => {
  const [www] = await askThrough(kresd('FORWARD'), ['www'])
  expect(www).toEqual({ rcode: Rcode.ServFail, answer: [] })
}, 60_000)

test('kresd with policy.FORWARD and set_insecure gives addresses, but no alias', async () => {
  const forward = kresd('FORWARD', insecure)
  const [www, out] = await askThrough(forward, ['www', 'out'])
  expect(www).toEqual(address)
  expect(out!.rcode).toBe(Rcode.ServFail)
}, 60_000)
