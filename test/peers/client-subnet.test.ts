// The client subnet as others' programs send it and read it: dig, kdig, and PowerDNS Recursor for
// clients of private networks.
import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { useDaemons } from '#test/support/daemon.ts'
import { freePort } from '#test/support/free-port.ts'
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

describe('PowerDNS Recursor', () => {
  const path = `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`
  const args = (recursorPort: number): readonly string[] => [
    ...[`--config-dir=${site.path}`, `--socket-dir=${site.path}`, '--daemon=no', '--threads=1'],
    ...['--local-address=127.0.0.1', `--local-port=${recursorPort}`, '--allow-from=0.0.0.0/0'],
    ...[`--forward-zones=example.com=127.0.0.1:${port}`, '--dont-query=', '--dnssec=off'],
    ...['--edns-subnet-allow-list=example.com', '--ecs-scope-zero-address=127.0.0.1'],
    ...['--query-local-address=127.0.5.9', '--proxy-protocol-from=127.0.0.0/8'],
    ...['--security-poll-suffix=', '--write-pid=no'],
  ]

  test('its clients of private networks are where it is, others where they are', async () => {
    const recursorPort = await freePort()
    const recursor = spawn('pdns_recursor', args(recursorPort), {
      env: { ...process.env, PATH: path },
      stdio: 'ignore',
    })
    try {
      const askAs = async (client: string): Promise<string> => {
        const server = ['@127.0.0.1', '-p', String(recursorPort), '+short', '+retry=0']
        const proxy = `+proxy=${client}-127.0.0.1`
        const asked = run('kdig', [...server, proxy, 'office.example.com', 'A'])
        return asked.then(({ stdout }) => stdout.trim()).catch(() => '')
      }
      await waitUntil('it answers', async () => (await askAs('10.20.1.1')) !== '')
      // 127.0.0.1 would get 192.0.2.42: the Recursor asks from 127.0.5.9.
      for (const client of ['10.20.1.1', '100.64.0.9', '192.168.3.3']) {
        expect([client, await askAs(client)]).toEqual([client, '192.0.2.41'])
      }
      // A subnet of its own, for which there is no rule: the member of the lowest priority.
      expect(await askAs('203.0.113.7')).toBe('192.0.2.41')
    } finally {
      const ended = once(recursor, 'exit')
      recursor.kill('SIGTERM')
      await ended
    }
  })
})
