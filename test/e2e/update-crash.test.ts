// A node that is killed while clients update it: what it has acknowledged is there afterwards, and
// no update is there in part. RFC 2136 section 3.5.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TsigKey } from '#dns/tsig/tsig-key.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { ask, TcpClient } from '#test/support/dns/client.ts'
import { decodeMessage } from '#test/support/dns/message.ts'
import { signedWith, testKey, updateMessage } from '#test/support/dns/signed.ts'
import { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const apiKey = 'ab'.repeat(32)
const { start } = useDaemons({ GSLB_API_KEY: apiKey, GSLB_SECRET_KEY: 'cd'.repeat(32) })
const zone = 'example.com.'
const clients = 16
const updatesWanted = 500
const kills = 4

let site: Site
let daemon: DaemonProcess
let key: TsigKey

beforeAll(async () => {
  site = await Site.make('update-crash', { dns: { domain: 'example.com' } })
  await site.push()
  await run()
  // The API has its configuration a moment after the sockets have theirs.
  const answer = await waitUntil('a key', createKey)
  const { name, secret } = (await answer.json()) as { name: string; secret: string }
  key = testKey(name, Buffer.from(secret, 'base64'))
})
afterAll(() => site?.remove())

async function createKey(): Promise<Response | undefined> {
  const answer = await fetch(`http://127.0.0.1:${daemon.apiPort}/api/v1/dns/tsig-keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'update.example.' }),
  })
  return answer.status === 201 ? answer : undefined
}

async function run(): Promise<void> {
  daemon = await start('serve', '--settings', site.settingsFile)
  const isServed = async (): Promise<boolean> =>
    (await daemon.answers('www.example.com. A'))[0] === 'www.example.com. 5 IN A 192.0.2.1'
  await waitUntil('the commit', isServed, { timeoutMs: 60_000 })
}

/** Names, and what became of them: `sent` ones may be there, whole. */
const outcome = new Map<string, 'sent' | 'acknowledged'>()
let acknowledged = 0

/** Updates one name after the other, two records at two names each, until the node is gone. */
async function updateOn(client: number, until: number): Promise<void> {
  const endpoint = { host: '127.0.0.1', port: daemon.dnsPort }
  const connection = await TcpClient.connect(endpoint)
  try {
    while (acknowledged < until) {
      const name = `c${client}-${outcome.size}.${zone}`
      outcome.set(name, 'sent')
      const lines = [`${name} 60 IN TXT "one"`, `below.${name} 60 IN TXT "two"`]
      connection.send(signedWith(key, updateMessage({ zone, updates: lines })))
      const { rcode } = decodeMessage(await connection.receive())
      expect(rcode).toBe(0)
      outcome.set(name, 'acknowledged')
      acknowledged++
    }
  } catch (error) {
    // It was killed: what it had not acknowledged may be there or not.
    if (!daemon.isOver) await waitUntil('the kill', () => daemon.isOver, { timeoutMs: 20_000 })
    if (!/closed the connection|no answer/.test(String(error))) throw error
  } finally {
    connection.destroy()
  }
}

/** `12` where both records are there. */
async function found(name: string): Promise<string> {
  const endpoint = { host: '127.0.0.1', port: daemon.dnsPort }
  const texts = await Promise.all(
    [name, `below.${name}`].map((one) => ask(endpoint, `${one} TXT`, { tcp: true })),
  )
  return texts.map(({ answer }) => answer[0]?.rdataText ?? '-').join(' ')
}

test(`no acknowledged one of ${updatesWanted} updates by ${clients} clients is lost`, async () => {
  for (let kill = 1; kill <= kills; kill++) {
    const until = Math.ceil((updatesWanted * kill) / kills)
    const killAt = until - clients
    const working = Array.from({ length: clients }, (_, i) => updateOn(i, Infinity))
    const all = Promise.all(working)
    await waitUntil(`${killAt} updates`, () => acknowledged >= killAt, { timeoutMs: 200_000 })
    daemon.signal('SIGKILL')
    await daemon.ended
    await all
    await run()
    let whole = 0
    for (const [name, what] of outcome) {
      const there = await found(name)
      if (what === 'acknowledged') expect([name, there]).toEqual([name, '"one" "two"'])
      else expect(['"one" "two"', '- -']).toContain(there)
      if (there !== '- -') whole++
    }
    expect(whole).toBeGreaterThanOrEqual(killAt)
  }
  expect([...outcome.values()].filter((what) => what === 'sent').length).toBeGreaterThan(0)
})
