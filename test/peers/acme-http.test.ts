// A certificate from Pebble for a name in no zone of ours: the redirect listener answers its HTTP
// challenge, and shows the certificate over https. Pebble takes accounts of known customers alone;
// the DNS server of its tests says that every name is this machine.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startAcmeServer } from '#test/support/acme-server.ts'
import type { AcmeServer } from '#test/support/acme-server.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { freePort } from '#test/support/free-port.ts'
import { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const name = 'www.elsewhere.example'
const customerKey = Buffer.alloc(32, 'customer').toString('base64url')
const { start } = useDaemons({ GSLB_SECRET_KEY: 'ef'.repeat(32) })
let site: Site
let daemon: DaemonProcess
let ca: AcmeServer
let resolver: ChildProcess
let tlsPort: number
let httpsPort: number

beforeAll(async () => {
  const [dns, httpPort, management] = await Promise.all([1, 2, 3].map(freePort))
  tlsPort = await freePort()
  httpsPort = await freePort()
  const off = ['-http01', '', '-https01', '', '-tlsalpn01', '']
  const on = ['-dns01', `127.0.0.1:${dns}`, '-management', `127.0.0.1:${management}`]
  const names = ['-defaultIPv4', '127.0.0.1', '-defaultIPv6', '']
  resolver = spawn('pebble-challtestsrv', [...off, ...on, ...names], { stdio: 'ignore' })
  ca = await startAcmeServer(dns!, {
    ...{ httpPort: httpPort!, customers: { 'kid-1': customerKey } },
  })
  site = await Site.make('acme-http', {
    acme: {
      ...{ names: [name], directory: ca.directoryUrl, agreeToTerms: true, caFile: './ca.pem' },
      ...{ propagation: '0s', eab: { kid: 'kid-1', hmacKeyFile: './eab.key' } },
    },
    dns: { tls: { port: tlsPort, acme: true } },
    redirect: {
      ...{ enabled: true, listenAddr: '127.0.0.1', port: httpPort, acme: true },
      https: { port: httpsPort, acme: true },
    },
  })
  copyFileSync(ca.certificate, join(site.path, 'ca.pem'))
  writeFileSync(join(site.path, 'eab.key'), `${customerKey}\n`)
  await site.push()
  daemon = await start('serve', '--settings', site.settingsFile)
}, 300_000)
afterAll(async () => {
  resolver.kill()
  await ca.stop()
  site.remove()
})

test('the name is proven by HTTP, and redirects over https have the certificate', async () => {
  const root = await ca.root()
  const names = async (port: number): Promise<string> => {
    const { promise, resolve } = Promise.withResolvers<string>()
    const socket = connect({ port, host: '127.0.0.1', servername: name, ca: root })
    socket.once('error', () => resolve(''))
    socket.once('secureConnect', () => resolve(socket.getPeerCertificate().subjectaltname ?? ''))
    try {
      return await promise
    } finally {
      socket.destroy()
    }
  }
  await waitUntil('the certificate', async () => (await names(tlsPort)) !== '', {
    timeoutMs: 90_000,
  })
  expect(await names(tlsPort)).toBe(`DNS:${name}`)
  const isThere = async () => (await names(httpsPort)) === `DNS:${name}`
  expect(daemon.output).not.toContain(customerKey)
  await waitUntil('redirects to have it', isThere, { timeoutMs: 20_000 })
}, 240_000)
