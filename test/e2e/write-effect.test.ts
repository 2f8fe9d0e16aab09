// Tests the effect that a write reports, on a running node with databases of places: the figures of
// a dry run, also after a database has changed.
import { renameSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { askFor, cityDatabase, iad, makeGeoSite } from '#test/support/geo-site.ts'
import type { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

interface Listed {
  readonly id: string
  readonly name: string
  readonly domain: string
  readonly poolId: string
}

const { start } = useDaemons()
let site: Site
let cityFile: string
let daemon: DaemonProcess

beforeAll(async () => {
  ;({ site, cityFile } = await makeGeoSite('write-effect', {}))
  site.trustNode()
  daemon = await start('serve', '--settings', site.settingsFile)
  await waitUntil('the first commit', async () => (await daemon.gitops()).active !== null)
})
afterAll(() => site.remove())

async function call(method: string, path: string, body?: object, effect = 'unwanted') {
  const url = `http://127.0.0.1:${daemon.apiPort}/api/v1${path}`
  const headers = { 'content-type': 'application/json', 'x-gslb-effect': effect }
  const sent = body === undefined ? {} : { headers, body: JSON.stringify(body) }
  const response = await fetch(url, { method, ...sent })
  const told = await response.json()
  return { status: response.status, told, effect: response.headers.get('x-gslb-effect') }
}

/** What a change of a service was said to do before it is made, and by the answer to it. */
async function change(name: string, parts: object): Promise<readonly (string | null)[]> {
  const services = (await call('GET', '/services')).told as readonly Listed[]
  const { id, domain, poolId } = services.find((one) => one.name === name)!
  const path = `/services/${id}`
  const body = { name, domain, poolId, ...parts }
  let dry = await call('PUT', `${path}?dryRun=true`, body)
  // A plan that is not made within ten seconds is not told: a busy machine has it later.
  for (let again = 0; dry.effect === null && again < 10; again++) {
    dry = await call('PUT', `${path}?dryRun=true`, body)
  }
  const made = await call('PUT', path, body, 'wanted')
  expect([dry.status, made.status], JSON.stringify(made.told)).toEqual([200, 200])
  return [dry.effect, made.effect]
}

const moves = /^moved=(<0\.1|[1-9][\d.]*)%; names=1$/

test('a service by country has the figures of a dry run', async () => {
  const [before, after] = await change('country', { filterChain: ['failover'] })
  expect(before).toMatch(moves)
  expect(after).toBe(before)
})

test.each([
  ['near', { algorithm: 'failover' }],
  ['map', { algorithm: 'failover' }],
  ['carrier', { algorithm: 'failover' }],
])('so has %s', async (name, body) => {
  const [before, after] = await change(name, body)
  expect(before).toMatch(moves)
  expect(after).toBe(before)
})

test('a database that is replaced counts from then on', async () => {
  writeFileSync(`${cityFile}.new`, cityDatabase('ashburn'))
  renameSync(`${cityFile}.new`, cityFile)
  const server = { host: '127.0.0.1', port: daemon.dnsPort }
  const isThere = async () => (await askFor(server, 'two', '10.1.2.0/24')).answer.startsWith(iad)
  await waitUntil('the new database', isThere)
  const [before, after] = await change('near', { algorithm: 'geo-ip' })
  expect(before).toMatch(moves)
  expect(after).toBe(before)
})
