import { expect, test } from 'vitest'
import { createApiServer } from '#api/server.ts'
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

test('without GSLB_API_KEY it may be asked from this machine', async () => {
  const server = serverAt('127.0.0.1')
  expect((await server.listen()).ok).toBe(true)
  await server.close()
})
