// A certificate from Pebble in a fleet: the control node waits until its dns node answers the
// proof, and the dns node gets the certificate in an envelope.
import { createPublicKey } from 'node:crypto'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startAcmeServer } from '#test/support/acme-server.ts'
import type { AcmeServer } from '#test/support/acme-server.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { freePort } from '#test/support/free-port.ts'
import { Site } from '#test/support/site.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const bundleToken = 'cd'.repeat(16)
const name = 'ns1.example.com'
const inner = 'inner.example.com'
const directory = makeTempDir('acme-fleet')
const settingsFile = join(directory, 'gslbd.yaml')
const controls = useDaemons({
  ...{ GSLB_API_KEY: 'ab'.repeat(32), GSLB_BUNDLE_TOKEN: bundleToken },
  GSLB_SECRET_KEY: 'ef'.repeat(32),
})
const nodes = useDaemons({ GSLB_BUNDLE_TOKEN: bundleToken })
const patience = { timeoutMs: 180_000 }
let site: Site
let ca: AcmeServer
let root: string
let node: DaemonProcess
let tlsPort: number
let httpsPort: number

const startNode = async (): Promise<void> => {
  node = nodes.spawn('serve', '--settings', settingsFile)
  await node.running()
}

beforeAll(async () => {
  const dnsPort = await freePort()
  tlsPort = await freePort()
  httpsPort = await freePort()
  // Pebble asks the dns node, and not the one that writes the proof.
  ca = await startAcmeServer(dnsPort)
  root = await ca.root()
  site = await Site.make('acme-fleet', {
    roles: ['control'],
    acme: {
      ...{ names: [name], directory: ca.directoryUrl, agreeToTerms: true, caFile: './ca.pem' },
      ...{ propagation: '0s', certificates: { inner: { names: [inner] } } },
    },
  })
  copyFileSync(ca.certificate, join(site.path, 'ca.pem'))
  site.trustNode()
  await site.push()
  const control = await controls.start('serve', '--settings', site.settingsFile)
  const pem = readFileSync(join(site.dataDir, 'keys', 'node.pem'), 'utf8')
  const publicPem = createPublicKey(pem).export({ type: 'spki', format: 'pem' })
  writeFileSync(join(directory, 'control.pem'), publicPem)
  const settings = {
    ...{ dataDir: './data', roles: ['dns'], state: { nodeName: 'far-1' } },
    dns: {
      ...{ listenAddr: '127.0.0.1', port: dnsPort, threads: 1 },
      tls: { port: tlsPort, acme: true, certificates: { inner: { acme: 'inner' } } },
    },
    redirect: {
      ...{ enabled: true, listenAddr: '127.0.0.1', port: 0 },
      https: { port: httpsPort, acme: true },
    },
    api: { enabled: true, port: 0 },
    bundle: {
      urls: [`http://127.0.0.1:${control.apiPort}`],
      ...{ keys: './control.pem', poll: '100ms' },
    },
  }
  writeFileSync(settingsFile, JSON.stringify(settings))
  await startNode()
}, 300_000)
afterAll(async () => {
  await controls.killAll()
  await nodes.killAll()
  await ca.stop()
  site.remove()
  removeTempDir(directory)
})

/** Serial of the certificate that the dns node shows; '': it shows none that counts. */
async function serial(port = tlsPort, servername = name): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const socket = connect({ port, host: '127.0.0.1', servername, ca: root })
  socket.once('error', () => resolve(''))
  socket.once('secureConnect', () => resolve(socket.getPeerCertificate().serialNumber))
  try {
    return await promise
  } finally {
    socket.destroy()
  }
}

test('a dns node starts without a certificate, and serves with it when it comes', async () => {
  await waitUntil('the certificate', async () => (await serial()) !== '', patience)
  expect(await serial()).not.toBe('')
  const isShared = async () => (await serial(httpsPort)) === (await serial())
  await waitUntil('redirects to have it', isShared, patience)
  expect(readFileSync(join(directory, 'data', 'certificates.copy'), 'utf8')).toMatch(/^v1\./)
  expect(node.output).not.toContain('PRIVATE')
  await waitUntil('that of the entry', async () => (await serial(tlsPort, inner)) !== '', patience)
  expect(await serial(tlsPort, inner)).not.toBe(await serial())
  await waitUntil('a good health', async () => (await node.health()) === 'ok', patience)
})

test('without its control node it starts again with what its disk has', async () => {
  const before = await serial()
  const ofEntry = await serial(tlsPort, inner)
  await controls.killAll()
  await node.stop('SIGKILL')
  await startNode()
  expect(await serial()).toBe(before)
  expect(await serial(httpsPort)).toBe(before)
  expect(await serial(tlsPort, inner)).toBe(ofEntry)
})
