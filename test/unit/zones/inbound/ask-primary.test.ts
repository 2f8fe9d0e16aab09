// Tests that a primary server is asked over TLS where it is to be: what its certificate must be,
// and that nothing is asked of another one. The server is a node.
import { mkdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer, getCACertificates } from 'node:tls'
import { setDefaultCACertificates } from 'node:tls'
import type { TlsOptions } from 'node:tls'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { askPrimary } from '#zones/inbound/ask-primary.ts'
import { pairsIn } from '#server/tls/sources.ts'
import { conformanceConfig } from '#test/support/dns/fixture.ts'
import { startNode } from '#test/support/dns/node.ts'
import type { RunningNode } from '#test/support/dns/node.ts'
import { wireName } from '#test/support/dns/wire-name.ts'
import { freePort } from '#test/support/free-port.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { makeTlsFiles } from '#test/support/tls-files.ts'

const believed = getCACertificates('default')
let directory = ''
let node: RunningNode
let port = 0

beforeAll(async () => {
  directory = makeTempDir('primary')
  port = await freePort()
  const files = makeTlsFiles(directory, 'ns.example.org')
  node = await startNode(conformanceConfig, {
    tls: { port, given: null, pairs: pairsIn('dns.tls', files) },
    transfers: { enabled: true, requireTsig: false, allow: [] },
  })
  setDefaultCACertificates([...believed, readFileSync(files.certFile, 'utf8')])
})
afterAll(async () => {
  setDefaultCACertificates(believed)
  await node.stop()
  removeTempDir(directory)
})

const question = {
  ...{ zone: wireName('example.org.'), key: undefined, serial: undefined },
  ...({ wants: 'changes', refused: undefined } as const),
}
const ask = (at: number, tls: string | undefined) => {
  const asking = { nowSeconds: () => 1_800_000_000, stop: new AbortController().signal, tls }
  return askPrimary({ address: '127.0.0.1', port: at }, question, asking)
}

test('a zone comes over TLS as it does without', async () => {
  const [plain, secure] = [await ask(node.port, undefined), await ask(port, 'ns.example.org')]
  expect(secure).toMatchObject({ ok: true, value: { is: 'whole' } })
  expect(secure).toEqual(plain)
})

test('a certificate for another name is not believed', async () => {
  expect(await ask(port, 'ns2.example.org')).toEqual({
    ok: false,
    error: 'has a certificate for another name',
  })
})

/** @returns its port */
async function serve(options: TlsOptions | null): Promise<number> {
  const server = options === null ? createServer() : createTlsServer(options)
  server.on('connection', (socket) => {
    socket.on('error', () => undefined)
    // No TLS record begins like this.
    if (options === null) socket.write('0'.repeat(16))
  })
  server.on('tlsClientError', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

const filesOf = (name: string, days?: number): TlsOptions => {
  const folder = join(directory, name)
  mkdirSync(folder)
  const { certFile, keyFile } = makeTlsFiles(folder, 'ns.example.org', days)
  return { cert: readFileSync(certFile), key: readFileSync(keyFile) }
}

test.each<[what: string, options: () => TlsOptions | null, reason: RegExp]>([
  [
    'a certificate of an unknown authority',
    () => filesOf('unknown'),
    /^has a certificate that is not believed \(DEPTH_ZERO_SELF_SIGNED_CERT\): see NODE_EXTRA/,
  ],
  [
    'a version of TLS before 1.3',
    () => ({ ...filesOf('old'), maxVersion: 'TLSv1.2' }),
    /^cannot be reached \(ERR_SSL_\w*VERSION\w*\)$/,
  ],
  ['a server that speaks no TLS', () => null, /^cannot be reached \(ERR_SSL_\w+\)$/],
])('%s is told of, and nothing is asked', async (_what, options, reason) => {
  const asked = await ask(await serve(options()), 'ns.example.org')
  expect(asked.ok ? '' : asked.error).toMatch(reason)
})
