// After a power cut: more nodes than a control node lets wait ask it for its bundle at the same
// time. It says to those beyond its limit when to come back, and goes on answering DNS.
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fleetLimits } from '#fleet/limits.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { QueryLoad } from '#test/support/query-load.ts'
import { poolPath, poolYaml, Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const token = 'cd'.repeat(16)
const { start } = useDaemons({ GSLB_API_KEY: 'ab'.repeat(32), GSLB_BUNDLE_TOKEN: token })
const count = 10_000
/** Connections at once: more than may wait, and about as many as the node accepts. */
const atOnce = fleetLimits.waitersMax + 200
let site: Site
let control: DaemonProcess
/** So that the test can be run again on the same repository. */
let lastOctet = 1

beforeAll(async () => {
  site = await Site.make('power-cut')
  await site.push()
  control = await start('serve', '--settings', site.settingsFile)
  await waitUntil('the first commit', async () => (await control.health()) === 'ok')
  // It answers by its bundle a moment before it gives it away.
  await waitUntil('the first bundle', async () => (await pull()).status === 200)
})
afterAll(() => site.remove())

interface Reply {
  /** 0: the connection was closed, since there were too many; a node comes back a second later. */
  readonly status: number
  readonly retryAfter: string
  readonly tag: string
}

const agent = new Agent({ keepAlive: false, maxSockets: Infinity })

/** As a node does that has just started, or that has the bundle already. */
async function pull(tag = ''): Promise<Reply> {
  const wait = tag === '' ? '' : '?wait=25'
  const sent = request({
    ...{ host: '127.0.0.1', port: control.apiPort, agent },
    path: `/bundles/channels/main${wait}`,
    headers: { authorization: `Bearer ${token}`, ...(tag === '' ? {} : { 'if-none-match': tag }) },
  })
  sent.end()
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>
  const response = await answered.then(([first]) => first).catch(() => undefined)
  if (response === undefined) return { status: 0, retryAfter: '', tag: '' }
  response.on('error', () => undefined).resume()
  const { 'retry-after': retryAfter = '', etag = '' } = response.headers
  return { status: response.statusCode ?? 0, retryAfter, tag: etag }
}

test(`${count} nodes pull at once: some wait, the others come back, and DNS goes on`, async () => {
  const { tag } = await pull()
  const load = new QueryLoad(control.dnsPort, 'www.example.com.')
  load.start()
  const waiting = new Set<Promise<Reply>>()
  const busy: Reply[] = []
  let [isBegun, closed] = [0, 0]
  const worker = async (): Promise<void> => {
    while (isBegun < count) {
      isBegun++
      const asked = pull(tag)
      waiting.add(asked)
      const reply = await asked
      if (reply.status !== 503 && reply.status !== 0) continue
      waiting.delete(asked)
      if (reply.status === 0) closed++
      else busy.push(reply)
    }
  }
  const workers = Array.from({ length: Math.min(atOnce, count) }, worker)
  await waitUntil('all to have asked', () => isBegun === count)
  site.write(poolPath, poolYaml(`192.0.2.${++lastOctet}`))
  await site.commit('another address')
  await site.push()
  await Promise.all(workers)
  const waited = await Promise.all(waiting)
  const { lost, asked } = await load.stop()
  expect(lost).toBe(0)
  expect(asked).toBeGreaterThan(0)
  // 304: its time was over before the change came.
  expect(waited.filter(({ status }) => status !== 200 && status !== 304)).toEqual([])
  expect(waited.length + busy.length + closed).toBe(count)
  expect(busy.length > 0).toBe(count > fleetLimits.waitersMax)
  expect(busy.filter(({ retryAfter }) => !/^[1-9][0-9]*$/.test(retryAfter))).toEqual([])
  // A node that asks again gets the change.
  const last = await pull()
  expect([last.status, last.tag === tag]).toEqual([200, false])
  expect(await control.health()).toBe('ok')
})
