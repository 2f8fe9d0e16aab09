// Digests of transferred zones (ZONEMD, RFC 8976), as the programs of others check them.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { pool, service } from '#test/support/bundle-models.ts'
import { ask } from '#test/support/dns/client.ts'
import { startNode } from '#test/support/dns/node.ts'
import type { RunningNode } from '#test/support/dns/node.ts'
import { modelOfWritten } from '#test/support/dns/written-zone.ts'
import { zoneOfAllTypes } from '#test/support/dns/zone-of-all-types.ts'
import { zoneOfAllWays } from '#test/support/dns/zone-of-all-ways.ts'
import { freePort } from '#test/support/free-port.ts'
import { saidBy } from '#test/support/said-by.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const name = 'example.com.'
/** Its own ZONEMD records are of other digests, and give way. */
const written = modelOfWritten({ name, text: zoneOfAllTypes(4) + zoneOfAllWays })
const model = {
  ...written,
  pools: [pool(1, ['192.0.2.10', '192.0.2.11', '2001:db8::11'])],
  services: [service(1, `app.${name}`), service(2, `*.Any.${name}`)],
}

let node: RunningNode
beforeAll(async () => {
  const transfers = { enabled: true, requireTsig: false, allow: [], zonemd: true }
  node = await startNode(model, { transfers })
})
afterAll(() => node?.stop())

async function transferred(): Promise<string[]> {
  const options = ['+nocomments', '+nocmd', '+nostats', '+noquestion', '+unknownformat']
  const asked = ['@127.0.0.1', '-p', `${node.port}`, name, 'AXFR']
  const { text } = await saidBy('dig', [...options, ...asked])
  // A zone file has the SOA once.
  return text.trim().split('\n').slice(0, -1)
}

const isDigest = (line: string): boolean =>
  /^example\.com\.\s+\d+\s+(?:CLASS1|IN)\s+(?:TYPE63|ZONEMD)\s/.test(line)

describe('ldns-verify-zone', () => {
  const verified = async (lines: readonly string[]): Promise<boolean> => {
    const file = join(tempDir('zone-digest'), 'zone')
    writeFileSync(file, `${lines.join('\n')}\n`)
    const { code } = await saidBy('ldns-verify-zone', ['-Z', file])
    return code === 0
  }

  test('agrees with the first transfer, and with the next one, which makes none', async () => {
    for (let i = 0; i < 2; i++) {
      const lines = await transferred()
      expect(lines.filter(isDigest)).toHaveLength(1)
      expect(await verified(lines)).toBe(true)
    }
  })

  test('finds what was changed or left out', async () => {
    const lines = await transferred()
    expect(await verified(lines.filter((line) => !/C000020B$/.test(line)))).toBe(false)
    expect(await verified(lines.map((line) => line.replace(/C000020A$/, 'C000020C')))).toBe(false)
    expect(await verified(lines.filter((line) => !isDigest(line)))).toBe(false)
  })

  test('agrees after each change', async () => {
    const services = [service(1, `app.${name}`, { ttlSeconds: 7 })]
    await node.serve({ ...model, services })
    expect(await verified(await transferred())).toBe(true)
    await node.serve(model)
    expect(await verified(await transferred())).toBe(true)
  })
})

/** The port of a secondary of the zone that checks its digest. */
async function startSecondary(
  program: string,
  primaryPort: number,
): Promise<{ port: number; said: () => string }> {
  const folder = tempDir(`zone-digest-${program}`)
  const port = await freePort()
  mkdirSync(join(folder, 'zones'))
  const file = join(folder, 'conf')
  const [binary, args, text] =
    program === 'knotd'
      ? ['/usr/sbin/knotd', ['-c', file], knotConf(folder, port, primaryPort)]
      : ['/usr/sbin/unbound', ['-d', '-c', file], unboundConf(folder, port, primaryPort)]
  writeFileSync(file, text)
  const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const output of [child.stdout, child.stderr]) {
    output.on('data', (octets: Buffer) => (said += octets.toString()))
  }
  const ended = once(child, 'close')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return { port, said: () => said }
}

const knotConf = (folder: string, port: number, primaryPort: number): string => `server:
    rundir: ${folder}
    listen: 127.0.0.1@${port}
database:
    storage: ${folder}
log:
  - target: stderr
    any: info
remote:
  - id: primary
    address: 127.0.0.1@${primaryPort}
zone:
  - domain: ${name}
    storage: ${folder}/zones
    master: primary
    zonemd-verify: on
`

const unboundConf = (folder: string, port: number, primaryPort: number): string => `server:
  interface: 127.0.0.1@${port}
  do-daemonize: no
  chroot: ""
  username: ""
  directory: "${folder}"
  pidfile: ""
  use-syslog: no
  verbosity: 4
  module-config: "iterator"
  do-not-query-localhost: no
remote-control:
  control-enable: no
auth-zone:
  name: "${name}"
  primary: 127.0.0.1@${primaryPort}
  for-downstream: yes
  for-upstream: no
  zonemd-check: yes
  zonemd-reject-absence: yes
`

test.each(['knotd', 'unbound'])('%s takes the zone', async (program) => {
  const { port, said } = await startSecondary(program, node.port)
  const server = { host: '127.0.0.1', port }
  await waitUntil(
    `${program} to serve the zone`,
    async () => {
      const reply = await ask(server, `app.${name} A`).catch(() => undefined)
      return reply?.answer.length === 2
    },
    { timeoutMs: 20_000 },
  )
  expect(said()).toMatch(/zonemd|ZONEMD/i)
})

test.each(['knotd', 'unbound'])('%s takes no zone without', async (program) => {
  const plain = await startNode(written, {
    transfers: { enabled: true, requireTsig: false, allow: [] },
  })
  onTestFinished(() => plain.stop())
  const { port, said } = await startSecondary(program, plain.port)
  await waitUntil(
    `${program} to refuse it`,
    () => /zonemd.*(fail|absen|missing|not)/i.test(said()),
    {
      timeoutMs: 20_000,
    },
  )
  const reply = await ask({ host: '127.0.0.1', port }, `www.${name} TXT`)
  expect([2, 5]).toContain(reply.rcode)
})
