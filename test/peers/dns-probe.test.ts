// DNS probes against the servers that people run: Knot, NSD, and a node of ours.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { HealthCheckModel } from '#bundle/format/model.ts'
import type { ProbeResult } from '#health/probes/probe.ts'
import { createProbes } from '#health/probes/probes.ts'
import { defaultProbeSettings } from '#health/probes/probe-settings.ts'
import { healthCheck } from '#test/support/bundle-models.ts'
import { conformanceConfig } from '#test/support/dns/fixture.ts'
import { startNode } from '#test/support/dns/node.ts'
import { referenceServers } from '#test/support/dns/reference.ts'
import type { RunningServer } from '#test/support/dns/reference.ts'

const note = (): void => undefined
const probes = createProbes({
  ...defaultProbeSettings,
  log: { info: note, warn: note, error: note },
})

function probe(port: number, given: Partial<HealthCheckModel>): Promise<ProbeResult> {
  const check = { ...healthCheck, type: 'dns', timeoutMs: 20_000, ...given, port } as const
  const target = { memberUid: 'm1', ipAddress: '127.0.0.1', check, checkKey: '', pool: 'web' }
  return new Promise((resolve) => probes.dns.run(target, resolve))
}

const lacking = 'no record in the answer is the one in dnsContains'
const rows: readonly (readonly [given: Partial<HealthCheckModel>, reason: string])[] = [
  [{ dnsName: 'www.example.org' }, ''],
  [{ dnsName: 'WWW.Example.ORG.', dnsContains: '192.0.2.1' }, ''],
  [{ dnsName: 'www.example.org', dnsContains: '192.0.2.99' }, lacking],
  [{ dnsName: 'six.example.org', dnsType: 'AAAA', dnsContains: '2001:DB8::1' }, ''],
  [{ dnsName: 'example.org', dnsType: 'NS', dnsContains: 'ns2.example.net' }, ''],
  [{ dnsName: 'example.org', dnsType: 'SOA', dnsContains: 'hostmaster.example.org.' }, ''],
  [{ dnsName: 'nobody.example.org' }, 'DNS NXDOMAIN, expected NOERROR'],
  [{ dnsName: 'nobody.example.org', dnsRcode: 'NXDOMAIN' }, ''],
  [{ dnsName: 'www.example.net', dnsRcode: 'REFUSED' }, ''],
  // About 1,900 octets: cut over UDP, whole over TCP, with compressed names.
  [
    {
      dnsName: 'huge.example',
      dnsType: 'NS',
      dnsContains: `23${'n'.repeat(61)}.example.net.`,
    },
    '',
  ],
]

const servers = [
  ...referenceServers,
  { name: 'gslbd', start: (config: typeof conformanceConfig) => startNode(config) },
]
describe.each(servers)('$name', ({ start }) => {
  let server: RunningServer
  beforeAll(async () => {
    server = await start(conformanceConfig)
  })
  afterAll(() => server.stop())

  test.each(rows)('%j: "%s"', async (given, reason) => {
    const result = await probe(server.port, given)
    expect([result.outcome, result.reason]).toEqual([reason === '' ? 'success' : 'failure', reason])
    expect(result.rttMs).toBeGreaterThan(0)
  })
})
