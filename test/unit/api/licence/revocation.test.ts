// Tests that a licence server's verdict is remembered for the judged token alone.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startLicenceServer } from '#test/support/licence-server.ts'
import type { LicenceServerStub } from '#test/support/licence-server.ts'
import { keeperScene, memoryLicences, token } from '#test/support/licences.ts'

const revoked = JSON.stringify({ valid: false, error: 'revoked' })

let server: LicenceServerStub
beforeEach(async () => {
  server = await startLicenceServer()
})
afterEach(() => server.stop())
const withServer = () => ({ options: { serverUrl: server.url, refreshIntervalMs: 0 } })

test("the server's word on one token does not change its word on another", async () => {
  const memory = memoryLicences()
  const [first, second] = [token({ maxRps: 8 }), token({ maxRps: 9 })]
  const statusOf = async (environmentToken: string): Promise<string> => {
    const { keeper } = keeperScene({ memory, environmentToken, ...withServer() })
    await keeper.refresh()
    return keeper.state.status
  }
  server.answers(200, revoked)
  expect(await statusOf(first)).toBe('revoked')
  expect(await statusOf(second)).toBe('revoked')
  server.answers(200, '{"valid":true}')
  expect(await statusOf(second)).toBe('valid')
  server.answers(500)
  expect(await statusOf(first)).toBe('revoked')
  expect(await statusOf(second)).toBe('valid')
})

test('a token that was revoked is not applied again while the server is away', async () => {
  const { keeper } = keeperScene(withServer())
  const text = token()
  await keeper.apply(text)
  server.answers(200, revoked)
  await keeper.refresh()
  server.answers(500)
  expect(await keeper.apply(token({ maxRps: 8 }))).toMatchObject({ ok: true })
  expect(await keeper.apply(text)).toMatchObject({ ok: false, error: { code: 'token' } })
  server.answers(200, '{"valid":true}')
  expect(await keeper.apply(text)).toMatchObject({ ok: true })
})
