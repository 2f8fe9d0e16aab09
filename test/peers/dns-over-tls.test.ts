// DNS over TLS as other programs speak it: Knot's kdig, and openssl for the handshake. Queries,
// padding, transfers, and a certificate that is replaced while the node serves.
import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { filesIn } from '#server/tls/sources.ts'
import { conformanceConfig } from '#test/support/dns/fixture.ts'
import { startNode } from '#test/support/dns/node.ts'
import type { RunningNode } from '#test/support/dns/node.ts'
import { freePort } from '#test/support/free-port.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { makeTlsFiles } from '#test/support/tls-files.ts'
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
  const files = filesIn('dns.tls', { ...first, certificates: { inner: { cert, key } } })
  node = await startNode(conformanceConfig, {
    tls: { port, given: null, files },
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
