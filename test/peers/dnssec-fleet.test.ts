// A signed zone on a control node and a node of the role dns, two processes: the one makes the key
// and keeps it in its database, the other gets it in an envelope, and delv validates both.
import { createPublicKey } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callApi } from '#test/support/api-client.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { ask } from '#test/support/dns/client.ts'
import { saidBy } from '#test/support/said-by.ts'
import { Site } from '#test/support/site.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const secretKey = 'ef'.repeat(32)
const bearer = 'ab'.repeat(32)
const bundleToken = 'cd'.repeat(16)
const zone = 'example.com.'
const directory = makeTempDir('dnssec-fleet')
const settingsFile = join(directory, 'gslbd.yaml')
const controls = useDaemons({
  GSLB_API_KEY: bearer,
  ...{ GSLB_BUNDLE_TOKEN: bundleToken, GSLB_SECRET_KEY: secretKey },
})
const nodes = useDaemons({ GSLB_BUNDLE_TOKEN: bundleToken })
let site: Site
let control: DaemonProcess
let node: DaemonProcess

const startControl = async (): Promise<void> => {
  control = controls.spawn('serve', '--settings', site.settingsFile)
  await control.running()
}
const startNode = async (): Promise<void> => {
  node = nodes.spawn('serve', '--settings', settingsFile)
  await node.running()
}

beforeAll(async () => {
  site = await Site.make('dnssec-fleet')
  site.trustNode()
  const yaml = readFileSync(join(site.checkout, 'gslb.yaml'), 'utf8')
  const signed = yaml.replace(`name: ${zone}\n`, `name: ${zone}\n      dnssec: { enabled: true }\n`)
  site.write('gslb.yaml', signed)
  await site.commit('signed')
  await site.push()
  await startControl()
  const pem = readFileSync(join(site.dataDir, 'keys', 'node.pem'), 'utf8')
  const publicPem = createPublicKey(pem).export({ type: 'spki', format: 'pem' })
  writeFileSync(join(directory, 'control.pem'), publicPem)
  const settings = {
    ...{ dataDir: './data', roles: ['dns'], state: { nodeName: 'far-1' } },
    dns: { listenAddr: '127.0.0.1', port: 0, threads: 1 },
    api: { enabled: true, port: 0 },
    bundle: {
      urls: [`http://127.0.0.1:${control.apiPort}`],
      ...{ keys: './control.pem', poll: '100ms' },
    },
  }
  writeFileSync(settingsFile, JSON.stringify(settings))
  await startNode()
})
afterAll(async () => {
  await controls.killAll()
  await nodes.killAll()
  site.remove()
  removeTempDir(directory)
})

/** Octets of the DNSKEY records that a process answers, in presentation form. */
async function keysAt(of: DaemonProcess): Promise<string[]> {
  const server = { host: '127.0.0.1', port: of.dnsPort }
  const { text } = await saidBy('dig', [
    ...[
      '@127.0.0.1',
      '-p',
      `${server.port}`,
      '+tcp',
      '+dnssec',
      '+noall',
      '+answer',
      zone,
      'DNSKEY',
    ],
  ])
  const found = text.split('\n').flatMap((line) => /DNSKEY\s+(257 3 13 .*)/.exec(line)?.[1] ?? [])
  return found.map((rdata) => rdata.replace(/ ; .*/, '')).toSorted()
}

async function isValid(of: DaemonProcess, question: string): Promise<boolean> {
  const [first = ''] = await keysAt(of)
  const [flags, protocol, algorithm, ...octets] = first.split(' ')
  const anchor = join(directory, 'anchor.conf')
  const key = `${zone} static-key ${flags} ${protocol} ${algorithm} "${octets.join('')}"`
  writeFileSync(anchor, `trust-anchors { ${key}; };\n`)
  const at = ['@127.0.0.1', '-p', `${of.dnsPort}`, '-a', anchor, `+root=${zone}`]
  const { text } = await saidBy('delv', [...at, ...question.split(' ')])
  return /; (negative response, )?fully validated/.test(text)
}

const questions = ['www.example.com. A', 'none.example.com. A', 'example.com. SOA']

test('the dns node answers with the key of the control node, and delv validates both', async () => {
  await waitUntil('the control node signs', async () => (await keysAt(control)).length === 1)
  await waitUntil('the dns node signs', async () => (await keysAt(node)).length === 1)
  expect(await keysAt(node)).toEqual(await keysAt(control))
  for (const question of questions) {
    for (const daemon of [control, node]) {
      expect([question, await isValid(daemon, question)]).toEqual([question, true])
    }
  }
  // No file has the private half as it is, and no log says it.
  expect(existsSync(join(site.dataDir, 'dnssec'))).toBe(false)
  const copies = [site.dataDir, join(directory, 'data')].map((of) => join(of, 'zone-keys.copy'))
  for (const copy of copies) expect(readFileSync(copy, 'utf8')).toMatch(/^v1\./)
  expect(readdirSync(join(directory, 'data'))).not.toContain('dnssec')
  expect(node.output + control.output).not.toMatch(/PrivateKey|MIGH/)
})

test('a roll by the API shows the new key on both, and both stay valid', async () => {
  const path = `/dnssec/zones/${zone}/roll`
  const rolled = await callApi(control, 'POST', path, { bearer, body: { which: 'csk' } })
  expect(rolled.status).toBe(202)
  await waitUntil('the control node has both', async () => (await keysAt(control)).length === 2)
  await waitUntil('the dns node has both', async () => (await keysAt(node)).length === 2)
  expect(await keysAt(node)).toEqual(await keysAt(control))
  for (const daemon of [control, node])
    expect(await isValid(daemon, 'www.example.com. A')).toBe(true)
})

test('without the control node, a dns node that starts again signs with its copy', async () => {
  const before = await keysAt(node)
  await control.stop('SIGKILL')
  await node.stop('SIGKILL')
  await startNode()
  await waitUntil('it signs', async () => (await keysAt(node)).length === 2)
  expect(await keysAt(node)).toEqual(before)
  expect(await isValid(node, 'www.example.com. A')).toBe(true)
})

test('a dns node whose copy is gone answers SERVFAIL to who validates, and says so', async () => {
  await node.stop('SIGKILL')
  const copy = join(directory, 'data', 'zone-keys.copy')
  const kept = readFileSync(copy)
  writeFileSync(copy, 'v1.AAAA')
  await startNode()
  const server = { host: '127.0.0.1', port: node.dnsPort }
  const asked = () => ask(server, 'www.example.com. A', { opt: { dnssecOk: true } })
  await waitUntil('it answers', async () => (await asked()).rcode === 2)
  expect(await node.get('/api/v1/health')).toContain('zone-key-missing')
  expect((await node.answers('www.example.com. A')).join()).toContain('192.0.2.1')
  await node.stop('SIGKILL')
  writeFileSync(copy, kept)
  await startNode()
  await waitUntil('it signs again', async () => (await keysAt(node)).length === 2)
})
