// Zones that come from BIND, Knot DNS, NSD and PowerDNS: the first transfer, changes after NOTIFY,
// what is laid over them, and what happens when a primary server is away or another one.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callApi } from '#test/support/api-client.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { PrimaryServer } from '#test/support/dns/primary.ts'
import type { PrimaryName } from '#test/support/dns/primary.ts'
import type { SecondaryKey } from '#test/support/dns/secondary.ts'
import { freePort } from '#test/support/free-port.ts'
import { serviceYaml, Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const bearer = 'ab'.repeat(32)
const { start } = useDaemons({ GSLB_API_KEY: bearer, GSLB_SECRET_KEY: 'cd'.repeat(32) })
const programs: readonly PrimaryName[] = ['bind', 'knot', 'nsd', 'powerdns']
const zoneOf = (name: PrimaryName): string => `${name}.example.`
const primaries = new Map<PrimaryName, PrimaryServer>()
let site: Site
let daemon: DaemonProcess

interface Shown {
  readonly zone: string
  readonly state: string
  readonly serial: number | null
  readonly offered: number | null
  readonly error: string
}

async function shown(zone: string): Promise<Shown | undefined> {
  const { body } = await callApi<readonly Shown[]>(daemon, 'GET', '/zone-transfers', { bearer })
  return body.find((one) => one.zone === zone)
}

async function isIn(zone: string, state: string): Promise<void> {
  let now: Shown | undefined
  const is = async (): Promise<boolean> => (now = await shown(zone))?.state === state
  const told = (): string => `${zone} to be ${state}: ${JSON.stringify(now)}`
  await waitUntil(told(), is, { timeoutMs: 30_000 }).catch(() => {
    throw new Error(told())
  })
}

const recordsOf = (zone: string): readonly string[] => [
  `www.${zone} 300 IN A 192.0.2.80`,
  `app.${zone} 300 IN A 192.0.2.81`,
  `app.${zone} 300 IN TXT "stays"`,
  `${zone} 300 IN MX 10 mail.${zone}`,
  `mail.${zone} 300 IN A 192.0.2.25`,
  `alias.${zone} 300 IN CNAME www.${zone}`,
  `sub.${zone} 300 IN NS ns1.sub.${zone}`,
  `ns1.sub.${zone} 300 IN A 192.0.2.54`,
  ...Array.from({ length: 20 }, (_, i) => `n${i}.${zone} 300 IN A 192.0.2.${100 + i}`),
]

const head = (kind: string): string => `apiVersion: gslb/v1\nkind: ${kind}\nmetadata: `

const zonesYaml = (ports: ReadonlyMap<PrimaryName, number>): string => {
  const zones = [...ports].map(([name, port]) => {
    const key = name === 'powerdns' ? '' : ', key: transfer.example.'
    const from = `{ primaries: ["127.0.0.1:${port}"]${key} }`
    return (
      `    - name: ${zoneOf(name)}\n      nameservers: [{ name: ns1.${zoneOf(name)} }]\n` +
      `      from: ${from}\n`
    )
  })
  const wrong = `{ primaries: ["127.0.0.1:${ports.get('bind')}"], key: other.example. }`
  return (
    `${zones.join('')}    - name: wrong.example.\n` +
    `      nameservers: [{ name: ns1.example.net. }]\n      from: ${wrong}\n`
  )
}

beforeAll(async () => {
  site = await Site.make('inbound-zones')
  site.trustNode()
  await site.push()
  daemon = await start('serve', '--settings', site.settingsFile)
  await daemon.hasDatabase()
  await waitUntil('the first commit', async () => (await daemon.health()) === 'ok')
  const makeKey = async (name: string): Promise<SecondaryKey> => {
    // The database may still be brought up to date.
    return await waitUntil(`the key ${name}`, async () => {
      const request = { bearer, body: { name } }
      const made = await callApi<SecondaryKey>(daemon, 'POST', '/dns/tsig-keys', request)
      return made.status === 201 ? made.body : undefined
    })
  }
  const key = await makeKey('transfer.example.')
  await makeKey('other.example.')
  const ports = new Map<PrimaryName, number>()
  for (const name of programs) {
    const port = await freePort()
    ports.set(name, port)
    const zone = zoneOf(name)
    const parts = { zone, records: recordsOf(zone), port, notified: daemon.dnsPort, key }
    const primary = new PrimaryServer(name, parts)
    primary.start()
    primaries.set(name, primary)
  }
  const settings = readFileSync(join(site.checkout, 'gslb.yaml'), 'utf8')
  site.write('gslb.yaml', settings.replace('  zones:\n', `  zones:\n${zonesYaml(ports)}`))
  for (const name of programs) {
    const service = serviceYaml(`app.${zoneOf(name)}`, `app-${name}`)
    site.write(`tenants/default/services/app-${name}.yaml`, service)
    // Another tenant has a name and a redirect that belong to one that comes in later.
    const own = `{ name: new-${name} }\nspec:`
    const host = `new.${zoneOf(name)}`
    site.write(
      `tenants/acme/services/new-${name}.yaml`,
      `${head('Service')}${own} { domain: _acme-challenge.${host}, pool: null }\n`,
    )
    site.write(
      `tenants/acme/redirects/new-${name}.yaml`,
      `${head('Redirect')}${own} { sourceFqdn: ${host.slice(0, -1)}, ` +
        'targetUrl: https://www.example.net/ }\n',
    )
  }
  site.write('tenants/acme/tenant.yaml', `${head('Tenant')}{ name: acme }\nspec: {}\n`)
  await site.commit('zones from elsewhere')
  await site.push()
}, 240_000)
afterAll(async () => {
  await daemon?.stop()
  for (const primary of primaries.values()) {
    await primary.stop()
    primary.remove()
  }
  site?.remove()
})

const answers = (name: string, type = 'A'): Promise<readonly string[]> =>
  daemon.answers(`${name} ${type}`)

describe.each(programs)('%s', (program) => {
  const zone = zoneOf(program)

  test('the zone comes in whole, and a service lies over a name of it', async () => {
    await isIn(zone, 'current')
    expect(await answers(`www.${zone}`)).toEqual([`www.${zone} 300 IN A 192.0.2.80`])
    expect(await answers(`app.${zone}`)).toEqual([`app.${zone} 5 IN A 192.0.2.1`])
    expect(await answers(`app.${zone}`, 'TXT')).toEqual([`app.${zone} 300 IN TXT "stays"`])
    expect(await answers(zone, 'MX')).toEqual([`${zone} 300 IN MX 10 mail.${zone}`])
    expect(await answers(`alias.${zone}`)).toContain(`www.${zone} 300 IN A 192.0.2.80`)
  }, 60_000)

  test('a change is answered soon after NOTIFY, also where a tenant has names below', async () => {
    await isIn(zone, 'current')
    await primaries.get(program)!.add(`new.${zone} 60 IN A 192.0.2.99`)
    const isThere = async (): Promise<boolean> => (await answers(`new.${zone}`)).length === 1
    await waitUntil(`new.${zone}: ${JSON.stringify(await shown(zone))}`, isThere, {
      timeoutMs: 30_000,
    })
    expect(await shown(zone)).toMatchObject({ state: 'current', error: '' })
  }, 60_000)

  test('what removes too much is held until a person accepts it', async () => {
    const names = Array.from({ length: 18 }, (_, i) => `n${i}.${zone}`)
    await primaries.get(program)!.removeNames([...names, `www.${zone}`, `mail.${zone}`])
    await isIn(zone, 'held')
    expect(await answers(`n3.${zone}`)).toHaveLength(1)
    const accepted = await callApi(daemon, 'POST', `/zone-transfers/${zone}/accept`, {
      ...{ bearer, body: { reason: 'these hosts are gone' } },
    })
    expect(accepted).toMatchObject({ status: 200, body: { zone } })
    expect(await answers(`n3.${zone}`)).toEqual(['NXDOMAIN'])
    expect(await answers(`n19.${zone}`)).toHaveLength(1)
    expect((await shown(zone))?.state).toBe('current')
  }, 60_000)
})

test('a key that the primary server does not know is named, and nothing is answered', async () => {
  await isIn('wrong.example.', 'failing')
  expect((await shown('wrong.example.'))?.error).toContain('other.example. (BADKEY)')
  expect(await answers('x.wrong.example.')).toEqual(['SERVFAIL'])
  const body = { name: 'x.wrong.example.' }
  const simulated = await callApi(daemon, 'POST', '/simulate', { bearer, body })
  expect(simulated.body).toMatchObject({ rcode: 'SERVFAIL', absent: 'wrong.example.' })
  const health = await daemon.get('/api/v1/health')
  expect(health).toMatch(/"degraded".*"zone-absent".*wrong\.example\./)
})

test('a primary server that is away costs nothing but its news', async () => {
  await primaries.get('bind')!.stop()
  expect(await answers(`n19.${zoneOf('bind')}`)).toHaveLength(1)
})

test('a zone without `from` is written by people, and `from` puts it back', async () => {
  const zone = zoneOf('knot')
  const asked = [
    `n19.${zone} A`,
    `app.${zone} A`,
    `app.${zone} TXT`,
    `sub.${zone} NS`,
    `x.${zone} A`,
  ]
  const all = () => Promise.all(asked.map((question) => daemon.answers(question)))
  const before = await all()
  const pull = async (): Promise<void> => {
    await site.git('fetch', '-q', 'origin')
    await site.git('reset', '-q', '--hard', 'origin/main')
  }
  await pull()
  const settings = readFileSync(join(site.checkout, 'gslb.yaml'), 'utf8')
  const left = settings.replace(new RegExp(`(- name: ${zone}\n.*\n) +from: .*\n`), '$1')
  expect(left).not.toBe(settings)
  site.write('gslb.yaml', left)
  await site.commit('the zone is ours')
  await site.push()
  await waitUntil('the end of transfers', async () => (await shown(zone)) === undefined)
  expect(await all()).toEqual(before)
  const path = `/records?name=n19.${zone}`
  const { body } = await callApi<readonly { readonly id: string }[]>(daemon, 'GET', path, {
    bearer,
  })
  const { id } = body[0]!
  const changed = await callApi(daemon, 'PATCH', `/records/${id}`, {
    ...{ bearer, body: { values: ['192.0.2.200'] } },
  })
  expect(changed.status).toBe(200)
  expect(await answers(`n19.${zone}`)).toEqual([`n19.${zone} 300 IN A 192.0.2.200`])
  await pull()
  site.write('gslb.yaml', settings)
  await site.commit('the zone is theirs again')
  await site.push()
  // The serial is still the same.
  await isIn(zone, 'current')
  const isBack = async (): Promise<boolean> => isDeepStrictEqual(await all(), before)
  await waitUntil('the records of the primary server', isBack, { timeoutMs: 20_000 })
}, 60_000)
