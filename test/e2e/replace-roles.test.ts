// Nodes of one role that another process replaces: one that only answers loses no query and no
// redirect, also over https; one that only gives bundles keeps its port.
import { once } from 'node:events'
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { get as httpsGet } from 'node:https'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { signBundle } from '#bundle/signature/sign.ts'
import { bundleDigest } from '#bundle/signature/digest.ts'
import { BundleStore } from '#server/node/bundle-store.ts'
import { encode, newSigningKey, smallModel } from '#test/support/bundle-models.ts'
import { signedRecord } from '#test/support/bundle-source.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { placeDatabase } from '#test/support/database-template.ts'
import { QueryLoad } from '#test/support/query-load.ts'
import { rawHttp } from '#test/support/raw-http.ts'
import { redirect } from '#test/support/redirects.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const { start, spawn } = useDaemons()
const fixtures = join(import.meta.dirname, '../fixtures/tls')
/** Answers of each process that the test waits for. */
const enough = 50
const host = 'old.example'

/** A data directory with a bundle as it was pulled last; its source is gone. */
function pulledSite(): string {
  const home = tempDir('replace-dns')
  const dataDir = join(home, 'data')
  mkdirSync(dataDir)
  const key = newSigningKey()
  const redirects = [redirect(1, host, 'https://new.example', { hstsSeconds: 60 })]
  const { bytes } = encode({ ...smallModel, redirects })
  signBundle(bytes, key)
  const record = signedRecord(key, { digest: bundleDigest(bytes) })
  new BundleStore(dataDir).keep(record, bytes, undefined)
  const keys = join(home, 'keys.pem')
  writeFileSync(keys, key.publicKey.export({ type: 'spki', format: 'pem' }))
  for (const kind of ['cert', 'key']) {
    copyFileSync(join(fixtures, `named.${kind}.pem`), join(home, kind))
    chmodSync(join(home, kind), 0o600)
  }
  const settings = join(home, 'gslbd.yaml')
  const https = {
    port: 0,
    certificates: { one: { cert: join(home, 'cert'), key: join(home, 'key') } },
  }
  writeFileSync(
    settings,
    JSON.stringify({
      ...{ dataDir: './data', roles: ['dns'], bundle: { urls: ['http://127.0.0.1:9'], keys } },
      dns: { listenAddr: '127.0.0.1', port: 0, threads: 1 },
      redirect: { enabled: true, listenAddr: '127.0.0.1', port: 0, https },
      api: { enabled: true, port: 0 },
    }),
  )
  return settings
}

interface RedirectPorts {
  readonly port: number
  readonly httpsPort: number
}

function portsOf(node: DaemonProcess): RedirectPorts {
  const { port, httpsPort } = node.logged('redirects are answered')!
  return { port: Number(port), httpsPort: Number(httpsPort) }
}

/** Status and HSTS over https, and the status over http. */
async function redirected(node: DaemonProcess): Promise<unknown> {
  const { port, httpsPort } = portsOf(node)
  const asked = { port: httpsPort, servername: host, headers: { host } }
  const sent = httpsGet({ ...asked, rejectUnauthorized: false, agent: false })
  const [secure] = (await once(sent, 'response')) as [IncomingMessage]
  secure.resume()
  const request = `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
  const { statuses } = await rawHttp(port, [request])
  return [secure.statusCode, secure.headers['strict-transport-security'], ...statuses]
}

test('a node that only answers: all sockets go over, and no query is lost', async () => {
  const settings = pulledSite()
  const old = await start('serve', '--settings', settings)
  expect(await redirected(old)).toEqual([301, 'max-age=60', 301])
  const load = new QueryLoad(old.dnsPort, 'www.example.org.')
  load.start()
  await waitUntil('queries of the first process', () => load.asked > enough)
  const next = spawn('serve', '--settings', settings, '--replace')
  await next.running()
  expect(await old.ended).toEqual({ code: 0, signal: null })
  const before = load.asked
  await waitUntil('queries of the second process', () => load.asked > before + enough)
  expect(await load.stop()).toMatchObject({ lost: 0 })
  expect([next.dnsPort, next.apiPort]).toEqual([old.dnsPort, old.apiPort])
  expect(portsOf(next)).toEqual(portsOf(old))
  expect(await redirected(next)).toEqual([301, 'max-age=60', 301])
  expect(JSON.parse(await next.get('/api/v1/ready'))).toMatchObject({ status: 'ready' })
  expect((await next.stop()).code).toBe(0)
})

test('a node that only gives bundles: the port of its API goes over', async () => {
  const home = tempDir('replace-control')
  mkdirSync(join(home, 'data'))
  await placeDatabase(join(home, 'data'))
  const settings = join(home, 'gslbd.yaml')
  const api = { enabled: true, port: 0 }
  writeFileSync(settings, JSON.stringify({ dataDir: './data', roles: ['control'], api }))
  const old = await start('serve', '--settings', settings)
  const next = spawn('serve', '--settings', settings, '--replace')
  await next.running()
  expect(await old.ended).toEqual({ code: 0, signal: null })
  expect([next.dnsPort, next.apiPort]).toEqual([0, old.apiPort])
  expect(await next.health()).toBe('starting')
  expect((await next.stop()).code).toBe(0)
})
