// Echo requests over the real kernel, in a network of its own whose rights a test can choose.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { ProbeResult } from '#health/probes/probe.ts'
import { probeTarget } from './check.ts'
import { testProbes } from './probe-table.ts'
import { onlyLong } from '#test/support/lane.ts'

interface Outcome {
  readonly results: Readonly<Record<string, readonly ProbeResult[]>>
  readonly lines: readonly string[]
}

interface Rights {
  /** Whether the group of the process is in net.ipv4.ping_group_range. */
  readonly datagram: boolean
  /** Whether it has CAP_NET_RAW. */
  readonly raw: boolean
}

const child = join(import.meta.dirname, 'icmp-child.ts')
/** What is sent to 192.0.2.0/24 and 2001:db8::/64 comes back in, and is thrown away. */
const network =
  'ip link set lo up && ip route add 192.0.2.0/24 dev lo && ip route add 2001:db8::/64 dev lo'

async function run(rights: Rights, mode: string, addresses: readonly string[]): Promise<Outcome> {
  const steps = [
    network,
    ...(rights.datagram ? ['echo "0 0" > /proc/sys/net/ipv4/ping_group_range'] : []),
    `exec ${rights.raw ? '' : 'setpriv --bounding-set -net_raw --inh-caps -net_raw '}"$@"`,
  ]
  const command = [process.execPath, child, mode, ...addresses]
  const { stdout } = await promisify(execFile)('unshare', [
    ...['--map-root-user', '--net', 'sh', '-c', steps.join(' && '), 'sh'],
    ...command,
  ])
  return JSON.parse(stdout) as Outcome
}

const success = { outcome: 'success', reason: '', rttMs: expect.closeTo(0, -3) as number }
const silence = { outcome: 'timeout', reason: 'no reply within 1000 ms', rttMs: 0 }
const unroutable = { outcome: 'failure', reason: 'network unreachable', rttMs: 0 }

const ways: readonly (readonly [string, Rights])[] = [
  ['a datagram socket, where there is no right to a raw one', { datagram: true, raw: false }],
  ['a raw socket, where datagram sockets are not for this group', { datagram: false, raw: true }],
]

describe.each(ways)('over %s', (_way, rights) => {
  test('an address that answers is healthy, one that does not is not', async () => {
    // Linux takes 0.0.0.0 for itself, and answers as 127.0.0.1: another address than was asked.
    const silent = ['192.0.2.9', '2001:db8::9', '0.0.0.0']
    const addresses = ['127.0.0.1', '::1', ...silent, '198.51.100.1']
    const { results, lines } = await run(rights, 'probe', addresses)
    expect(results).toEqual({
      '127.0.0.1': [success, success],
      '::1': [success, success],
      '192.0.2.9': [silence, silence],
      '2001:db8::9': [silence, silence],
      '0.0.0.0': [silence, silence],
      '198.51.100.1': [unroutable, unroutable],
    })
    expect(results['127.0.0.1']![1]!.rttMs).toBeGreaterThan(0)
    expect(lines).toEqual([])
  })
})

onlyLong(() => {
  test('replies that nobody asked for neither help nor harm', async () => {
    const { results } = await run({ datagram: false, raw: true }, 'forge', [
      '127.0.0.1',
      '192.0.2.9',
    ])
    expect(results).toEqual({ '127.0.0.1': [success, success], '192.0.2.9': [silence, silence] })
  })
})

test('with neither right every member is unhealthy, and each probe is in the log', async () => {
  const { results, lines } = await run({ datagram: false, raw: false }, 'probe', ['127.0.0.1'])
  const forbidden = { outcome: 'failure', rttMs: 0, reason: 'this node may not send ICMP' }
  expect(results['127.0.0.1']).toEqual([forbidden, forbidden])
  expect(lines).toEqual([forbiddenLine, forbiddenLine])
})

test('the log has twelve lines a minute for many probes that cannot be sent', async () => {
  const addresses = Array.from({ length: 20 }, (_, i) => `127.0.0.${i + 1}`)
  const { lines } = await run({ datagram: false, raw: false }, 'probe', addresses)
  expect(lines).toEqual(Array.from({ length: 12 }, () => forbiddenLine))
})

const forbiddenLine =
  'an icmp probe cannot be sent, so that its member counts as unhealthy: give the process ' +
  'CAP_NET_RAW, or put its group into net.ipv4.ping_group_range'

test('a probe that is called off never reports', async () => {
  const { probes } = testProbes()
  let reports = 0
  const check = { type: 'icmp', timeoutMs: 30 } as const
  const cancel = probes.icmp.run(probeTarget('m1', check), () => reports++)
  cancel()
  // One that was started later has ended: so would the other have.
  await new Promise((resolve) => probes.icmp.run(probeTarget('m2', check), resolve))
  expect(reports).toBe(0)
})
