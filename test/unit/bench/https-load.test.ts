// Loads of DNS over HTTPS that write their own frames, as a server of node:http2 reads them.
import { readFileSync } from 'node:fs'
import { once } from 'node:events'
import { createSecureServer } from 'node:http2'
import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { httpsLoad } from '#bench/load/https-load.ts'
import { httpsMethods } from '#bench/load/https-frames.ts'
import { idleConnections } from '#bench/load/idle-connections.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { makeTlsFiles } from '#test/support/tls-files.ts'
import { waitUntil } from '#test/support/wait-until.ts'

interface Request {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Every third answer is a 404. */
async function server(every = 3) {
  const { certFile, keyFile } = makeTlsFiles(tempDir('https-load'), 'ns.example')
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
  const load = { ...shared, port, method, connections: 2, outstanding: 5, seconds: 0.5 }
  const { answered, failed } = await httpsLoad(load, 0)
  expect(answered).toBeGreaterThan(20)
  expect(Math.abs(failed - answered / 3)).toBeLessThan(12)
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

test('idle connections stay open, each with one answer, until they are told to end', async () => {
  const { port, requests, sessions } = await server(1e9)
  const { open, program } = await idleConnections({ ...shared, port, connections: 50 }, 0)
  expect([open, requests.length, sessions.size]).toEqual([50, 50, 50])
  await program.stop()
  await waitUntil('closed', () => sessions.size === 0)
})
