// The client subnet as others' programs send it and read it: BIND's dig and Knot's kdig.
import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { useDaemons } from '#test/support/daemon.ts'
import { askFor, fra, fra6, iad, makeGeoSite, par } from '#test/support/geo-site.ts'
import type { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const run = promisify(execFile)
const { start } = useDaemons()

const programs = [
  // RFC 7871 section 6: address, source, scope.
  { name: 'dig', subnetLine: /^; CLIENT-SUBNET: (\S+)\/(\d+)\/(\d+)$/m },
  { name: 'kdig', subnetLine: /^;; CLIENT-SUBNET: (\S+)\/(\d+)\/(\d+)$/m },
] as const
const installed = programs.filter(({ name }) => spawnSync(name, ['-v']).error === undefined)

let site: Site
let port = 0
beforeAll(async () => {
  ;({ site } = await makeGeoSite('subnet', { threads: 1 }))
  const daemon = await start('serve', '--settings', site.settingsFile)
  port = daemon.dnsPort
  const server = { host: '127.0.0.1', port }
  await waitUntil('answers', async () => (await askFor(server, 'near', null)).answer === par)
})
afterAll(() => site.remove())

test('a program to ask with is installed', () => {
  expect(installed.map(({ name }) => name)).not.toEqual([])
})

const rows = [
  ['near', 'A', '10.1.2.0/24', fra, '10.1.2.0/24/16'],
  ['near', 'A', '10.3.2.1/32', iad, '10.3.2.1/32/16'],
  ['near', 'AAAA', '2001:db8:1:2::/64', fra6, '2001:db8:1:2::/64/48'],
  ['near', 'A', '0.0.0.0/0', par, '0.0.0.0/0/0'],
  ['country', 'A', '10.0.0.0/8', fra, '10.0.0.0/8/16'],
  ['map', 'A', '10.6.200.0/22', iad, '10.6.200.0/22/17'],
  ['office', 'A', '10.20.1.0/24', '192.0.2.42', '10.20.1.0/24/16'],
  ['plain', 'A', '10.3.2.0/24', fra, '10.3.2.0/24/0'],
  ['not-there', 'A', '10.3.2.0/24', '', '10.3.2.0/24/0'],
] as const

describe.each(installed)('$name', ({ name, subnetLine }) => {
  test.each(rows)('%s %s for %s', async (service, type, client, answer, subnet) => {
    for (const transport of ['+notcp', '+tcp']) {
      const question = [`${service}.example.com`, type]
      const server = ['@127.0.0.1', '-p', String(port), '+norecurse', transport]
      const { stdout } = await run(name, [...server, ...question, `+subnet=${client}`])
      const address = new RegExp(`\\sIN\\s+${type}\\s+(\\S+)$`, 'm').exec(stdout)?.[1] ?? ''
      const [, network, source, scope] = subnetLine.exec(stdout) ?? []
      expect([address, `${network}/${source}/${scope}`]).toEqual([answer, subnet])
      expect(stdout).not.toMatch(/WARNING|malformed|FORMERR/i)
    }
  })

  test('without a subnet: none comes back, and the source counts', async () => {
    const server = ['@127.0.0.1', '-p', String(port), '+edns']
    const { stdout } = await run(name, [...server, 'near.example.com', 'A'])
    expect(stdout).toContain(par)
    expect(stdout).not.toMatch(subnetLine)
  })
})
