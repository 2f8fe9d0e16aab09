import { once } from 'node:events'
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { createApiServer } from '#api/server/server.ts'
import { portsOf, silentLog } from '#test/support/api-ports.ts'

const serverAt = (listenAddr: string) =>
  createApiServer({
    ports: portsOf({}),
    log: silentLog,
    listenAddr,
    port: 0,
    trustedProxies: [],
    allowDevMode: false,
  })

test.each(['0.0.0.0', '::', '192.0.2.1', '2001:db8::1'])(
  'without GSLB_API_KEY nothing listens on %s',
  async (address) => {
    const listening = await serverAt(address).listen()
    expect(listening).toEqual({
      ok: false,
      error: expect.stringMatching(
        /cannot listen on .* without GSLB_API_KEY.*allowDevMode/,
      ) as string,
    })
  },
)

async function statusWith(host: string): Promise<number | undefined> {
  const server = serverAt('127.0.0.1')
  const listening = await server.listen()
  if (!listening.ok) throw new Error(listening.error)
  const { port } = listening.value
  const headers = { host: host.replace('PORT', String(port)) }
  const sent = request({ host: '127.0.0.1', port, path: '/api/v1/auth/me', headers, agent: false })
  const [response] = (await once(sent.end(), 'response')) as [IncomingMessage]
  response.resume()
  await server.close()
  return response.statusCode
}

test.each([
  ['localhost:PORT', 200],
  ['LOCALHOST', 200],
  ['gslbd.localhost:PORT', 200],
  ['127.0.0.1:PORT', 200],
  ['127.8.0.1', 200],
  ['[::1]:PORT', 200],
  // The page of a site whose name points at this machine: the browser takes it for ours.
  ['evil.example:PORT', 403],
  ['localhost.evil.example', 403],
  ['127.0.0.1.evil.example', 403],
  ['192.0.2.1:PORT', 403],
  ['bad host', 403],
])('without GSLB_API_KEY a request to the host "%s" is answered %i', async (host, status) => {
  expect(await statusWith(host)).toBe(status)
})
