// DNS over HTTPS as other programs speak it: Knot's kdig, BIND's dig, curl, and dnsdist before the
// node. Answers are those of TCP.
import { execFile, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { cookieCells } from '#test/support/dns/cookies.ts'
import { ask } from '#test/support/dns/client.ts'
import { conformanceConfig } from '#test/support/dns/fixture.ts'
import { query } from '#test/support/dns/message.ts'
import { startNode } from '#test/support/dns/node.ts'
import type { RunningNode } from '#test/support/dns/node.ts'
import { freePort } from '#test/support/free-port.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { pairsIn } from '#server/tls/sources.ts'
import { makeTlsFiles } from '#test/support/tls-files.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const run = promisify(execFile)
let node: RunningNode
let port = 0
let directory = ''

beforeAll(async () => {
  directory = makeTempDir('doh')
  port = await freePort()
  const pairs = pairsIn('dns.tls', makeTlsFiles(directory, 'ns.example.org'))
  const https = { port, path: '/dns-query' }
  node = await startNode(conformanceConfig, {
    tls: { port: 0, https, pairs, given: null },
    cookies: cookieCells(),
    transfers: { enabled: true, requireTsig: false, allow: [] },
  })
})
afterAll(async () => {
  await node.stop()
  removeTempDir(directory)
})

const here = (at: number): string[] => ['@127.0.0.1', '-p', String(at)]

async function kdig(...question: string[]): Promise<string> {
  return (await run('kdig', [...here(port), '+https', '+retry=0', ...question])).stdout
}

async function dig(...question: string[]): Promise<string> {
  return (await run('dig', [...here(port), '+https', '+tries=1', ...question])).stdout
}

const records = (text: string): string[] =>
  text.split('\n').filter((line) => /^[^;].*\sIN\s/.test(line))

test.each([
  ['SOA', []],
  ['NS', ['+dnssec']],
  ['TXT', ['+subnet=203.0.113.0/24']],
])('kdig and dig get the %s of TCP', async (type, options) => {
  const question = [...options, 'example.org', type]
  const { stdout } = await run('kdig', [...here(node.port), '+tcp', ...question])
  expect(records(stdout).length > 0 || /status: NOERROR/.test(stdout)).toBe(true)
  expect(records(await kdig(...question)).sort()).toEqual(records(stdout).sort())
  expect(await kdig('+https-get', ...question)).toMatch(/HTTP\/2-GET.*status: 200/)
  expect(await dig(...question)).toMatch(/status: NOERROR/)
  expect(await dig('+https-get', ...question)).toMatch(/\(HTTPS-GET\)|\(HTTPS\)/)
})

test('kdig checks the certificate', async () => {
  const ca = join(directory, 'cert.pem')
  const strict = [`+tls-ca=${ca}`, '+tls-hostname=ns.example.org']
  expect(await kdig(...strict, 'example.org', 'SOA')).toMatch(/status: NOERROR[^]*\sSOA\s/)
})

test.each([
  ['+padding=128', true],
  ['+nopadding', false],
])('with %s the reply is of whole blocks: %s', async (option, isPadded) => {
  const said = await kdig(option, '+edns', 'example.org', 'SOA')
  expect(Number(/Received (\d+) B/.exec(said)?.[1]) % 468 === 0).toBe(isPadded)
})

test('a cookie is answered by one, and a wish for keepalive is not', async () => {
  expect(await dig('+cookie=0123456789abcdef', 'example.org', 'SOA')).toMatch(/COOKIE: .*\(good\)/)
  const keepalive = await dig('+ednsopt=11', 'example.org', 'SOA')
  expect(keepalive).toMatch(/status: NOERROR/)
  expect(keepalive).not.toMatch(/KEEPALIVE/i)
})

test('no zone is transferred: a reply over HTTP is one message', async () => {
  expect(await kdig('example.org', 'AXFR').catch(String)).not.toMatch(/SOA[^]*SOA/)
  expect(await ask(node, 'example.org. SOA', { tcp: true })).toMatchObject({ rcode: 0 })
})

interface Curled {
  readonly head: string
  readonly body: Buffer
}

async function curl(...options: string[]): Promise<Curled> {
  const all = ['-sk', '-D', '-', ...options]
  const { stdout } = await run('curl', all, { encoding: 'buffer' })
  const end = stdout.indexOf('\r\n\r\n')
  return { head: stdout.subarray(0, end).toString(), body: stdout.subarray(end + 4) }
}

const url = (parameters = ''): string => `https://127.0.0.1:${port}/dns-query${parameters}`
const soa = query('example.org. SOA', { id: 0 })
const missing = query('nothing.example.org. A', { id: 0 })

test('curl gets a message by GET and POST, which may be kept as long as its TTL', async () => {
  const get = await curl('--http2', url(`?dns=${soa.toString('base64url')}`))
  expect(get.head).toMatch(/^HTTP\/2 200[^]*content-type: application\/dns-message/)
  const [answer] = (await ask(node, 'example.org. SOA', { tcp: true })).answer
  expect(get.head).toContain(`cache-control: private, max-age=${answer!.ttl}`)
  const file = join(directory, 'query')
  writeFileSync(file, missing)
  const type = ['-H', 'content-type: application/dns-message']
  const post = await curl('--http2', ...type, '--data-binary', `@${file}`, url())
  expect(post.head).toMatch(/^HTTP\/2 200[^]*cache-control: private, max-age=[1-9]/)
  expect(post.body[3]! & 15).toBe(3)
})

test('curl resolves a name through it', async () => {
  const doh = ['--doh-insecure', '--doh-url', url(), '-m', '5', '-v']
  const { stderr } = await run('curl', ['-sk', ...doh, 'http://www.example.org:9/']).catch(
    (error: unknown) => error as { stderr: string },
  )
  expect(stderr).toMatch(/(Trying|DOH A:|DoH A:) ?\d+\.\d+\.\d+\.\d+/i)
})

const dnsType = ['-H', 'content-type: application/dns-message']
test.each<[what: string, status: number, says: RegExp, path: string, options: readonly string[]]>([
  ['no query', 400, /^no DNS query/, '/dns-query', []],
  ['padded base64', 400, /^no DNS query/, '/dns-query?dns=AAAA====', []],
  ['an empty body', 400, /^no DNS query/, '/dns-query', [...dnsType, '-d', '']],
  ['a body that is none', 400, /^no DNS query/, '/dns-query', [...dnsType, '-d', 'x']],
  ['another path', 404, /^nothing is here/, '/', []],
  ['PUT', 405, /^only GET and POST/, '/dns-query', ['-X', 'PUT']],
  ['HEAD', 405, /^$/, '/dns-query', ['-I']],
  ['a body of a form', 415, /^the body must be application/, '/dns-query', ['-d', 'x']],
  ['a long body', 413, /at most 65535/, '/dns-query', [...dnsType, '-d', 'x'.repeat(70_000)]],
])('curl is told why %s is refused: %d', async (_what, status, says, path, options) => {
  const { head, body } = await curl('--http2', ...options, `https://127.0.0.1:${port}${path}`)
  expect(head).toMatch(new RegExp(`^HTTP/2 ${status} `))
  expect(head).toMatch(/content-type: text\/plain; charset=utf-8/)
  expect(head).toMatch(/cache-control: no-store/)
  expect(/allow: GET, POST/.test(head)).toBe(status === 405)
  expect(body.toString().trimEnd()).toMatch(says)
})

test('curl gets no connection by HTTP/1.1', async () => {
  await expect(curl('--http1.1', url())).rejects.toThrow()
})

test('dnsdist passes queries on to it', async () => {
  const local = await freePort()
  const file = join(directory, 'dnsdist.conf')
  const backend = `address="127.0.0.1:${port}", tls="openssl", dohPath="/dns-query"`
  const checks = `validateCertificates=false, checkName="example.org.", checkType="SOA"`
  writeFileSync(
    file,
    `setLocal("127.0.0.1:${local}")\nnewServer({${backend}, subjectName="ns.example.org", ${checks}})\n`,
  )
  const dnsdist = spawn('dnsdist', ['--supervised', '--disable-syslog', '-C', file], {
    stdio: 'ignore',
  })
  onTestFinished(() => void dnsdist.kill('SIGKILL'))
  const asked = async (): Promise<boolean> => {
    const { stdout } = await run('kdig', [
      ...here(local),
      '+timeout=1',
      '+retry=0',
      'example.org',
      'SOA',
    ])
    return /status: NOERROR[^]*\sSOA\s/.test(stdout)
  }
  await waitUntil('dnsdist', asked, { timeoutMs: 30_000 })
  expect(node.node.tcpStats?.secure?.requests?.answered).toBeGreaterThan(0)
})
