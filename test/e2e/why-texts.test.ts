// TXT records written over the API and by DNS UPDATE, on a whole daemon: each answer that was sent
// is explained afterwards, with the record that was there, who wrote it, and when.
import { statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { journalDirectory } from '#node/past/node-journal.ts'
import type { TsigKey } from '#dns/tsig/tsig-key.ts'
import { segmentFiles } from '#journal/segment-files.ts'
import { callApi } from '#test/support/api-client.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { exchangeUdp } from '#test/support/dns/client.ts'
import { decodeMessage } from '#test/support/dns/message.ts'
import { signedWith, testKey, updateMessage } from '#test/support/dns/signed.ts'
import { runCliWith } from '#test/support/run-cli.ts'
import { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const bearer = 'ab'.repeat(32)
const { start } = useDaemons({ GSLB_API_KEY: bearer, GSLB_SECRET_KEY: 'cd'.repeat(32) })
const name = '_acme-challenge.www.example.com.'

let site: Site
let daemon: DaemonProcess
let key: TsigKey

beforeAll(async () => {
  site = await Site.make('why-texts', { dns: { domain: 'example.com' } })
  await site.push()
  await run()
  const made = await waitUntil('a key', async () => {
    const answer = await callApi<{ name: string; secret: string }>(
      daemon,
      'POST',
      '/dns/tsig-keys',
      { bearer, body: { name: 'certbot.example.com.' } },
    )
    return answer.status === 201 ? answer.body : undefined
  })
  key = testKey(made.name, Buffer.from(made.secret, 'base64'))
})
afterAll(() => site?.remove())

async function run(): Promise<void> {
  daemon = await start('serve', '--settings', site.settingsFile)
  const isServed = async (): Promise<boolean> =>
    (await daemon.answers('www.example.com. A'))[0] === 'www.example.com. 5 IN A 192.0.2.1'
  await waitUntil('the commit', isServed, { timeoutMs: 60_000 })
}

async function update(...updates: readonly string[]): Promise<void> {
  const message = signedWith(key, updateMessage({ zone: 'example.com.', updates: [...updates] }))
  const answer = await exchangeUdp({ host: '127.0.0.1', port: daemon.dnsPort }, message)
  expect(decodeMessage(answer).rcode).toBe(0)
}

interface Sent {
  readonly at: string
  readonly answers: readonly string[]
  readonly writers: readonly string[]
}

const sent: Sent[] = []

/** What is answered now, at an instant that has nothing else. */
async function note(...writers: readonly string[]): Promise<void> {
  const beganMs = Date.now()
  await waitUntil('the next millisecond', () => Date.now() > beganMs)
  const atMs = Date.now()
  const answers = await daemon.answers(`${name} TXT`)
  sent.push({ at: new Date(atMs).toISOString(), answers, writers })
  const endedMs = Date.now()
  await waitUntil('the next millisecond', () => Date.now() > endedMs)
}

interface Past {
  readonly isCertain: boolean
  readonly rcode: string
  readonly records: readonly string[]
  readonly notes: readonly string[]
  readonly texts: readonly { readonly writtenBy: string; readonly writtenAt: string }[]
}

async function expectExplained(): Promise<void> {
  for (const { at, answers, writers } of sent) {
    const asked = { bearer, body: { name, type: 'TXT', at } }
    const { status, body } = await callApi<Past>(daemon, 'POST', '/why', asked)
    expect([status, body]).toMatchObject([200, { isCertain: true, notes: [] }])
    expect(body.records.length === 0 ? [body.rcode] : body.records).toEqual(answers)
    expect(body.texts.map(({ writtenBy }) => writtenBy).sort()).toEqual(writers)
    for (const { writtenAt } of body.texts) expect(writtenAt <= at).toBe(true)
  }
}

test('each answer is explained with the record of then and who wrote it', async () => {
  await note()
  const body = { name, value: 'first', ttl: 60 }
  const made = await callApi<{ id: string }>(daemon, 'POST', '/dns/txt-records', { bearer, body })
  expect(made.status).toBe(201)
  await note('system')
  await update(`${name} 60 IN TXT "second"`)
  await note('key:certbot.example.com.', 'system')
  const path = `/dns/txt-records/${made.body.id}`
  expect((await callApi(daemon, 'DELETE', path, { bearer })).status).toBe(204)
  await note('key:certbot.example.com.')
  await update(`${name} 0 ANY TXT`)
  await note()
  const of = sent.map(({ answers }) => answers.join())
  expect([of[0], of[1], of[4]]).toEqual(['NXDOMAIN', `${name} 60 IN TXT "first"`, 'NXDOMAIN'])
  await expectExplained()
})

test('so they are by the command, from the files of a node that is gone and was cut', async () => {
  daemon.signal('SIGKILL')
  await daemon.ended
  const { path } = segmentFiles(journalDirectory(site.dataDir)).at(-1)!
  truncateSync(path, statSync(path).size - 3)
  for (const { at, answers } of sent.slice(0, 3)) {
    const of = ['--type', 'TXT', '--settings', site.settingsFile, '--at', at]
    const { out } = await runCliWith({}, 'why', name, ...of)
    expect(out).toContain('certain')
    for (const line of answers) expect(out).toContain(line)
  }
  const of = ['--type', 'TXT', '--settings', site.settingsFile, '--at', sent[2]!.at]
  const { out } = await runCliWith({}, 'why', name, ...of)
  expect(out).toContain(`written   "first" at ${name} by system of tenant default, `)
  expect(out).toContain(`"second" at ${name} by key:certbot.example.com. of tenant default, `)
  await run()
  await note()
  sent.splice(3, 2)
  await expectExplained()
  expect(segmentFiles(join(site.dataDir, 'journal')).length).toBeGreaterThan(1)
})
