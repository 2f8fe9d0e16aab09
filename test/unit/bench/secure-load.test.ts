// A load of DNS over HTTPS that writes its own frames, as a server of node:http2 reads them.
import { readFileSync } from 'node:fs'
import { once } from 'node:events'
import { createSecureServer } from 'node:http2'
import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { httpsMethods } from '#bench/load/https-frames.ts'
import { askConnections, openConnections } from '#bench/load/secure-load.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { makeTlsFiles } from '#test/support/tls-files.ts'
import { waitUntil } from '#test/support/wait-until.ts'

interface Request {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Every third answer is a 404. */
async function server(every = 3) {
  const { certFile, keyFile } = makeTlsFiles(tempDir('secure-load'), 'ns.example')
  const requests: Request[] = []
  const sessions = new Set<ServerHttp2Session>()
  const one = createSecureServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) })
  one.on('session', (session) => {
    sessions.add(session)
    session.on('error', () => undefined).on('close', () => sessions.delete(session))
  })
  one.on('stream', (stream: ServerHttp2Stream, headers) => {
    stream.on('error', () => undefined)
    void Array.fromAsync(stream as AsyncIterable<Buffer>)
      .then((chunks) => {
        const body = Buffer.concat(chunks).toString('hex')
        const status = requests.push({ headers, body }) % every === 0 ? 404 : 200
        stream.respond({ ':status': status })
        stream.end(Buffer.alloc(50))
      })
      .catch(() => undefined)
  })
  one.listen(0, '127.0.0.1')
  await once(one, 'listening')
  onTestFinished(() => {
    for (const session of sessions) session.destroy()
    one.close()
  })
  return { port: (one.address() as AddressInfo).port, requests, sessions }
}

const message = Buffer.alloc(150, 1)
const shared = { path: '/dns-query', query: message.toString('hex') }

test.each(httpsMethods)('requests by %s are whole, and replies are counted', async (method) => {
  const { port, requests } = await server()
  const { program } = await openConnections({ ...shared, port, method, connections: 2 }, 0)
  const { asked, answered, good } = await askConnections(program, { outstanding: 5, seconds: 0.5 })
  await program.stop()
  expect(answered).toBeGreaterThan(20)
  expect(answered).toBe(asked)
  expect(Math.abs(answered - good - answered / 3)).toBeLessThan(12)
  const dns = message.toString('base64url')
  const expected =
    method === 'GET'
      ? { ':path': `/dns-query?dns=${dns}` }
      : { ':path': '/dns-query', 'content-type': 'application/dns-message' }
  for (const { headers, body } of requests) {
    expect(headers).toMatchObject({ ':method': method, ':scheme': 'https', ...expected })
    expect(headers).toMatchObject({ ':authority': 'ns.example', accept: 'application/dns-message' })
    expect(body).toBe(method === 'GET' ? '' : shared.query)
  }
})

test('connections stay open, each with one answer, and ask and end when told to', async () => {
  const { port, requests, sessions } = await server(1e9)
  const plan = { ...shared, port, connections: 50, method: 'POST' as const }
  const { open, program } = await openConnections(plan, 0)
  expect([open, requests.length, sessions.size]).toEqual([50, 50, 50])
  const asked = await askConnections(program, { perSecond: 1_000, seconds: 0.1 })
  expect(asked).toMatchObject({ asked: 100, answered: 100, good: 100 })
  expect(requests.length).toBe(150)
  await program.stop()
  await waitUntil('closed', () => sessions.size === 0)
})
