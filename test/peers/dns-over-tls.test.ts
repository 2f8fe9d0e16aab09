// DNS over TLS as other programs speak it: Knot's kdig, and openssl for the handshake. Queries,
// padding, transfers, and certificates that end or are replaced while the node serves.
import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { pairsIn } from '#server/tls/sources.ts'
import { useDaemons } from '#test/support/daemon.ts'
import { query } from '#test/support/dns/message.ts'
import { conformanceConfig } from '#test/support/dns/fixture.ts'
import { startNode } from '#test/support/dns/node.ts'
import type { RunningNode } from '#test/support/dns/node.ts'
import { freePort } from '#test/support/free-port.ts'
import { makeTempDir, removeTempDir, tempDir } from '#test/support/temp-dir.ts'
import { makeEndingTlsFiles, makeTlsFiles } from '#test/support/tls-files.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const run = promisify(execFile)
let node: RunningNode
let port = 0
let directory = ''

beforeAll(async () => {
  directory = makeTempDir('dot')
  port = await freePort()
  mkdirSync(join(directory, 'inner'))
  const { certFile: cert, keyFile: key } = makeTlsFiles(join(directory, 'inner'), '*.inner.example')
  const first = makeTlsFiles(directory, 'ns.example.org')
  const pairs = pairsIn('dns.tls', { ...first, certificates: { inner: { cert, key } } })
  node = await startNode(conformanceConfig, {
    tls: { port, given: null, pairs },
    transfers: { enabled: true, requireTsig: false, allow: [] },
  })
})
afterAll(async () => {
  await node.stop()
  removeTempDir(directory)
})

async function kdig(...question: string[]): Promise<string> {
  const server = ['@127.0.0.1', '-p', String(port), '+tls', '+retry=0']
  return (await run('kdig', [...server, ...question])).stdout
}

test('kdig gets its answer, and checks the certificate', async () => {
  const ca = join(directory, 'cert.pem')
  const strict = [`+tls-ca=${ca}`, '+tls-hostname=ns.example.org']
  expect(await kdig(...strict, 'example.org', 'SOA')).toMatch(/status: NOERROR[^]*\sSOA\s/)
})

test.each([
  ['+padding=128', true],
  ['+nopadding', false],
])('with %s the reply is of whole blocks: %s', async (option, isPadded) => {
  const said = await kdig(option, '+edns', 'example.org', 'SOA')
  const bytes = Number(/Received (\d+) B/.exec(said)?.[1])
  expect(bytes % 468 === 0).toBe(isPadded)
  expect(said.includes('PADDING')).toBe(isPadded)
})

test('a padding that came in the open is not answered', async () => {
  const server = ['@127.0.0.1', '-p', String(node.port), '+tcp', '+padding=128']
  const { stdout } = await run('kdig', [...server, 'example.org', 'SOA'])
  expect(stdout).not.toContain('PADDING')
})

test('a zone is transferred', async () => {
  const records = (text: string): string[] => text.split('\n').filter((line) => /\sIN\s/.test(line))
  const plain = ['@127.0.0.1', '-p', String(node.port), '+tcp', 'example.org', 'AXFR']
  const { stdout } = await run('kdig', plain)
  expect(records(await kdig('example.org', 'AXFR'))).toEqual(records(stdout))
  expect(records(stdout).length).toBeGreaterThan(3)
})

function handshake(...options: string[]): string {
  const place = ['s_client', '-connect', `127.0.0.1:${port}`, ...options]
  const { stdout, stderr } = spawnSync('openssl', place, { input: '', encoding: 'latin1' })
  return stdout + stderr
}

test('openssl agrees on dot, resumes a session, and finds no renegotiation', () => {
  const session = join(directory, 'session')
  expect(handshake('-alpn', 'dot', '-tls1_2', '-sess_out', session)).toContain('ALPN protocol: dot')
  const again = handshake('-tls1_2', '-sess_in', session)
  expect(again).toContain('Reused, TLSv1.2')
  expect(handshake('-alpn', 'h2')).toMatch(/alert no application protocol/)
})

test('a client is shown the certificate of the name that it asks for, else the first', async () => {
  const session = join(directory, 'inner-session')
  for (const [name, shown] of [
    ['ns.inner.example', '*.inner.example'],
    ['inner.example', 'ns.example.org'],
    ['a.b.inner.example', 'ns.example.org'],
    ['ns.example.org', 'ns.example.org'],
  ] as const) {
    expect(handshake('-servername', name)).toContain(`CN = ${shown}`)
  }
  expect(handshake('-noservername')).toContain('CN = ns.example.org')
  const named = ['-servername', 'ns.inner.example', '-tls1_2']
  expect(handshake(...named, '-sess_out', session)).toContain('CN = *.inner.example')
  expect(handshake(...named, '-sess_in', session)).toContain('Reused, TLSv1.2')
  const ca = `+tls-ca=${join(directory, 'inner', 'cert.pem')}`
  const strict = [ca, '+tls-hostname=ns.inner.example', '+tls-sni=ns.inner.example']
  expect(await kdig(...strict, 'example.org', 'SOA')).toMatch(/status: NOERROR/)
})

test('a certificate that is replaced is shown to the next client', async () => {
  makeTlsFiles(directory, 'new.example.org')
  await waitUntil('the new one', () => handshake().includes('CN = new.example.org'), {
    timeoutMs: 30_000,
  })
})

const { start } = useDaemons()
const patience = { timeoutMs: 120_000 } as const

interface Failed {
  readonly stdout: string
}

/** A process of its own, which refuses each query: nothing was pushed to it. */
async function startProcess(folder: string) {
  const [tls, https] = [await freePort(), await freePort()]
  const files = makeTlsFiles(folder, 'ns.example.org')
  const secure = { tls: { port: tls, ...files }, https: { enabled: true, port: https } }
  const dns = { listenAddr: '127.0.0.1', port: 0, threads: 1, ...secure }
  const settings = { dataDir: join(folder, 'data'), dns, api: { enabled: false } }
  writeFileSync(join(folder, 'gslbd.yaml'), JSON.stringify(settings))
  const daemon = await start('serve', '--settings', join(folder, 'gslbd.yaml'))
  const checks = [`+tls-ca=${files.certFile}`, '+tls-hostname=ns.example.org']
  /** `tls` or `https` where it answers, for a client that checks the certificate or does not. */
  const answering = async (isStrict: boolean): Promise<readonly string[]> => {
    const found: string[] = []
    for (const [how, at] of [['tls', tls] as const, ['https', https] as const]) {
      const place = ['@127.0.0.1', '-p', `${at}`, `+${how}`, '+retry=0', '+timeout=10']
      const question = [...place, ...(isStrict ? checks : []), 'example.org', 'SOA']
      const said = await run('kdig', question).catch((error: unknown) => error as Failed)
      if (said.stdout.includes('status: REFUSED')) found.push(how)
    }
    return found
  }
  return { tls, daemon, answering }
}

test('a certificate that ends while a process serves ends no connection', async () => {
  const folder = tempDir('ending')
  const { tls, daemon, answering } = await startProcess(folder)
  expect(await answering(true)).toEqual(['tls', 'https'])
  const message = query('example.org. SOA', { id: 1 })
  const framed = Buffer.concat([Buffer.from([0, message.length]), message])
  makeEndingTlsFiles(folder, 'ns.example.org', Date.now() + 30_000)
  await waitUntil('the one that ends', () => daemon.logged('was taken over'), patience)
  const socket = connect({ port: tls, host: '127.0.0.1', rejectUnauthorized: false })
  const asking = setInterval(() => socket.write(framed), 500)
  onTestFinished(() => {
    clearInterval(asking)
    socket.destroy()
  })
  let isClosed = false
  let bytes = 0
  socket.on('error', () => undefined).on('data', (chunk: Buffer) => (bytes += chunk.length))
  socket.once('close', () => (isClosed = true))
  await waitUntil('its end', () => daemon.logged('has expired'), patience)
  // Clients that look at the certificate leave, by clocks of whole seconds; the others have their
  // answers.
  const isLeft = async (): Promise<boolean> => (await answering(true)).length === 0
  await waitUntil('clients that look to leave', isLeft, patience)
  expect(await answering(false)).toEqual(['tls', 'https'])
  makeTlsFiles(folder, 'ns.example.org')
  const isBack = async (): Promise<boolean> => (await answering(true)).length === 2
  await waitUntil('the one after it', isBack, patience)
  const before = bytes
  await waitUntil('an answer on the connection of before', () => bytes > before)
  expect(isClosed).toBe(false)
  expect(await daemon.stop()).toEqual({ code: 0, signal: null })
}, 400_000)
