import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createLicenceServer } from '#licence/server.ts'
import { startLicenceServer } from '../../support/licence-server.ts'
import type { LicenceServerStub } from '../../support/licence-server.ts'
import {
  day,
  installId,
  keeperScene,
  memoryLicences,
  startMs,
  startSeconds,
  stranger,
  token,
  vendor,
} from '../../support/licences.ts'

const dayMs = day * 1_000
const hourMs = 3_600_000
const revoked = JSON.stringify({ valid: false, error: 'revoked' })

let server: LicenceServerStub
beforeEach(async () => {
  server = await startLicenceServer()
})
afterEach(() => server.stop())
const withServer = (refreshIntervalMs = hourMs) => ({
  options: { serverUrl: server.url, refreshIntervalMs },
})

const hang = (): void => server.hangs()
/** As a node asks, where no answer is to come. */
const impatientIf = (answer: () => void) =>
  answer === hang ? { server: createLicenceServer() } : {}

describe('the trial of an installation without a licence', () => {
  test('begins at the first look, lasts 30 days offline, and ends by itself', async () => {
    const { keeper, time, told } = keeperScene()
    expect(told).toEqual([0])
    await keeper.refresh()
    expect(keeper.state).toMatchObject({ tier: 'trial', maxRps: 500, installId, valid: true })
    expect(keeper.state.expiresAt).toBe(startSeconds + 30 * day)
    time.pass(30 * dayMs - 1)
    expect(keeper.state.tier).toBe('trial')
    time.pass(1)
    expect(keeper.state).toMatchObject({ tier: 'expired', maxRps: 20, valid: false })
    expect(told).toEqual([0, 500, 20])
    await keeper.refresh()
    expect(keeper.state.tier).toBe('expired')
  })

  test.each<[string, () => void, number]>([
    ['201', () => server.answers(201, '{}'), 30],
    ['409', () => server.answers(409, '{"error":"prior trial"}'), 7],
    ['500', () => server.answers(500), 30],
    ['200', () => server.answers(200, '{}'), 30],
    ['a redirect', () => server.answers(302), 30],
    ['no answer in time', hang, 30],
    ['an endless answer', () => server.answers(409, 'x'.repeat(1_000_000)), 30],
  ])('the licence server says %s', async (_name, answer, days) => {
    answer()
    const { keeper } = keeperScene({ ...withServer(), ...impatientIf(answer) })
    await keeper.refresh()
    expect(keeper.state).toMatchObject({ tier: 'trial', expiresAt: startSeconds + days * day })
    expect(server.asked).toHaveLength(1)
    const [{ method, path, body }] = server.asked as [(typeof server.asked)[number]]
    expect([method, path]).toEqual(['POST', '/api/v1/trial/register'])
    const digest = createHash('sha256').update(`machine${installId}`).digest()
    const fingerprint = digest.subarray(0, 16).toString('hex')
    expect(JSON.parse(body)).toEqual({ fingerprint, installId })
  })

  test('is offline when the server is not there at all', async () => {
    await server.stop()
    const { keeper } = keeperScene(withServer())
    await keeper.refresh()
    expect(keeper.state.expiresAt).toBe(startSeconds + 30 * day)
  })

  test('is one for all nodes and starts of an installation', async () => {
    const { keeper, memory, time } = keeperScene()
    await keeper.refresh()
    time.pass(3 * dayMs)
    server.answers(201)
    const again = keeperScene({ memory, time, ...withServer() })
    await again.keeper.refresh()
    expect(again.keeper.state).toEqual(keeper.state)
    expect(server.asked).toEqual([])
  })

  test('does not begin where there is a licence', async () => {
    const { keeper, memory } = keeperScene({ environmentToken: token() })
    await keeper.refresh()
    const loaded = await memory.store.load('')
    expect(loaded.ok && loaded.value.trial).toBeNull()
  })
})

describe('a token', () => {
  test('in the environment goes before that of the API, and that before the file', async () => {
    const memory = memoryLicences()
    const file = { options: { fileToken: token({ maxRps: 3 }) } }
    const first = keeperScene({ memory, ...file })
    await first.keeper.refresh()
    expect(first.keeper.state).toMatchObject({ source: 'file', maxRps: 3 })
    expect((await first.keeper.apply(token({ maxRps: 2 }))).ok).toBe(true)
    expect(first.keeper.state).toMatchObject({ source: 'api', maxRps: 2 })
    const other = keeperScene({ memory, ...file, environmentToken: token({ maxRps: 1 }) })
    await other.keeper.refresh()
    expect(other.keeper.state).toMatchObject({ source: 'environment', maxRps: 1 })
    expect(await other.keeper.apply(token({ maxRps: 9 }))).toMatchObject({
      ok: true,
      value: { source: 'environment', maxRps: 1 },
    })
  })

  test('in the environment counts before any database was asked', () => {
    const { told } = keeperScene({ environmentToken: token() })
    expect(told).toEqual([2_000])
  })

  test('applied on one node reaches the others and the next start', async () => {
    const { keeper, memory, time, told } = keeperScene()
    const other = keeperScene({ memory, time })
    await keeper.refresh()
    await other.keeper.refresh()
    expect(await keeper.apply(` ${token({ maxRps: 11 })}\n`)).toMatchObject({ ok: true })
    expect(told).toEqual([0, 500, 11])
    await other.keeper.refresh()
    expect(other.told).toEqual([0, 500, 11])
    const restarted = keeperScene({ memory, time })
    await restarted.keeper.refresh()
    expect(restarted.keeper.state).toEqual(keeper.state)
  })

  test('applied again fills the bucket again', async () => {
    const { keeper, told } = keeperScene()
    await keeper.apply(token({ maxRps: 11 }))
    await keeper.apply(token({ maxRps: 11, cid: 'renamed' }))
    expect(told.slice(-2)).toEqual([11, 11])
    expect(keeper.state.customerId).toBe('renamed')
  })

  test.each<[string, string, string]>([
    ['another key', token({}, stranger.privateKey), 'signature'],
    ['another installation', token({ iid: 'elsewhere' }), 'is for the installation elsewhere'],
    ['an end in the past', token({ exp: startSeconds - 1 }), 'expired on 2026-11-20'],
    ['no id', token({ id: '' }), 'field "id"'],
  ])('with %s is not applied, and what counted before still does', async (_name, text, part) => {
    const { keeper, memory, told } = keeperScene()
    await keeper.apply(token({ maxRps: 11 }))
    const applied = await keeper.apply(text)
    expect(applied).toMatchObject({ ok: false, error: { code: 'token' } })
    expect(applied.ok ? '' : applied.error.message).toContain(part)
    expect(keeper.state.maxRps).toBe(11)
    expect(told.at(-1)).toBe(11)
    const loaded = await memory.store.load('')
    expect(loaded.ok && loaded.value.licence?.token).toBe(token({ maxRps: 11 }))
  })

  test('expires at its moment, without anybody asking the server', async () => {
    const { keeper, time, told } = keeperScene({ environmentToken: token({ maxRps: 900 }) })
    await keeper.refresh()
    time.pass(dayMs)
    expect(keeper.refusal('geo-rules')).toMatch(/this installation's is expired; apply a licence/)
    expect(told).toEqual([900, 20])
  })

  test('decides over features and the members of a pool', async () => {
    const { keeper } = keeperScene({ environmentToken: token({ tier: 'paid' }) })
    expect(keeper.refusal('filter-chains')).toBeUndefined()
    expect(keeper.refusal('geo-rules')).toContain('pro')
    expect(keeper.memberLimit()).toEqual({
      membersMax: 10,
      refusal:
        'a pool may have 10 members under the licence tier paid; apply a licence of a higher tier',
    })
  })

  test('shows how many nodes there are now', async () => {
    let nodes = 1
    const { keeper } = keeperScene({ environmentToken: token(), countNodes: () => nodes })
    expect(await keeper.current()).toMatchObject({ nodes: 1 })
    nodes = 4
    expect(await keeper.current()).toMatchObject({ nodes: 4, status: 'valid' })
  })
})

describe('without a vendor key', () => {
  test('the keeper enforces nothing and asks nobody', async () => {
    const memory = memoryLicences()
    memory.isAway = true
    const options = { vendorKey: null, serverUrl: server.url }
    const { keeper, told } = keeperScene({ memory, options })
    await keeper.refresh()
    expect(keeper.refusal('custom-roles')).toBeUndefined()
    expect(keeper.memberLimit()).toBeUndefined()
    expect(told).toEqual([0])
    expect(server.asked).toEqual([])
  })

  test('the state is shown all the same, and no token is taken', async () => {
    const { keeper, told } = keeperScene({ options: { vendorKey: null } })
    expect(await keeper.current()).toMatchObject({ tier: 'unlicensed', enforced: false })
    expect(await keeper.apply(token())).toMatchObject({ ok: false, error: { code: 'token' } })
    expect(told).toEqual([0])
  })

  test('no day of a trial passes: it begins with the key', async () => {
    const { keeper, options, time } = keeperScene({ options: { vendorKey: null } })
    await keeper.current()
    time.pass(40 * 24 * hourMs)
    await keeper.reload({ ...options, vendorKey: vendor.publicKey })
    expect(await keeper.current()).toMatchObject({ tier: 'trial', maxRps: 500, enforced: true })
  })

  test('the bucket is filled by a reload that changes nothing, too', async () => {
    const { keeper, told, options } = keeperScene({ options: { fileToken: token() } })
    await keeper.refresh()
    const before = told.length
    await keeper.reload({ ...options, fileToken: token() })
    expect(told.slice(before)).toEqual([2_000])
  })

  test('a key that comes with a reload is enforced from then on', async () => {
    const { keeper, told, options } = keeperScene({ options: { vendorKey: null } })
    await keeper.reload({ ...options, vendorKey: vendor.publicKey })
    expect(told.at(-1)).toBe(500)
    await keeper.reload({ ...options, vendorKey: vendor.publicKey, fileToken: token() })
    expect(told.at(-1)).toBe(2_000)
    await keeper.reload(options)
    expect(told.at(-1)).toBe(0)
  })
})

describe('a licence server', () => {
  test('is asked for the token at the start, and then once in the interval', async () => {
    server.answers(200, '{"valid":true}')
    const text = token()
    const { keeper, time } = keeperScene({ environmentToken: text, ...withServer() })
    await keeper.refresh()
    time.pass(hourMs - 1)
    await keeper.refresh()
    expect(server.asked).toEqual([{ method: 'GET', path: `/api/v1/verify/${text}`, body: '' }])
    time.pass(1)
    await keeper.refresh()
    expect(server.asked).toHaveLength(2)
  })

  test('that revokes a token drops the rate at once, and can take it back', async () => {
    server.answers(200, '{"valid":true}')
    const text = token({ exp: 0 })
    const { keeper, time, told } = keeperScene({ environmentToken: text, ...withServer() })
    await keeper.refresh()
    server.answers(200, revoked)
    time.pass(hourMs)
    await keeper.refresh()
    expect(keeper.state).toMatchObject({ status: 'revoked', tier: 'unlicensed', maxRps: 5 })
    expect(keeper.refusal('filter-chains')).toContain('paid')
    server.answers(200, '{"valid":true}')
    time.pass(hourMs)
    await keeper.refresh()
    expect(keeper.state.status).toBe('valid')
    expect(told).toEqual([2_000, 5, 2_000])
  })

  test.each<[string, () => void]>([
    ['an error', () => server.answers(500, revoked)],
    ['a page that is not there', () => server.answers(404, revoked)],
    ['a redirect', () => server.answers(302, revoked)],
    ['no JSON', () => server.answers(200, 'revoked')],
    ['null', () => server.answers(200, 'null')],
    ['another reason', () => server.answers(200, '{"valid":false,"error":"unknown"}')],
    ['too much', () => server.answers(200, `${' '.repeat(100_000)}${revoked}`)],
    ['nothing', hang],
  ])('that answers %s changes nothing: neither valid nor revoked', async (_name, answer) => {
    const memory = memoryLicences()
    const text = token({ exp: 0 })
    const scene = { memory, environmentToken: text, ...withServer(), ...impatientIf(answer) }
    answer()
    const valid = keeperScene(scene)
    await valid.keeper.refresh()
    expect(valid.keeper.state.status).toBe('valid')
    server.answers(200, revoked)
    const dropped = keeperScene(scene)
    await dropped.keeper.refresh()
    answer()
    dropped.time.pass(hourMs)
    await dropped.keeper.refresh()
    expect(dropped.keeper.state.status).toBe('revoked')
  })

  test('that revoked a token is believed by the other nodes and after a restart', async () => {
    server.answers(200, revoked)
    const memory = memoryLicences()
    const text = token()
    await keeperScene({ memory, environmentToken: text, ...withServer() }).keeper.refresh()
    const offline = keeperScene({ memory, environmentToken: text })
    await offline.keeper.refresh()
    expect(offline.keeper.state.status).toBe('revoked')
    const renewed = keeperScene({ memory, environmentToken: token({ maxRps: 8 }) })
    await renewed.keeper.refresh()
    expect(renewed.keeper.state).toMatchObject({ status: 'valid', maxRps: 8 })
  })

  test('has a say before a token is applied', async () => {
    server.answers(200, revoked)
    const { keeper } = keeperScene(withServer())
    expect(await keeper.apply(token())).toMatchObject({ ok: false, error: { code: 'token' } })
    server.answers(500)
    expect(await keeper.apply(token())).toMatchObject({ ok: true, value: { status: 'valid' } })
  })
})

describe('a database that is away', () => {
  test('at the start limits nothing, and its word counts when it is back', async () => {
    const memory = memoryLicences()
    memory.isAway = true
    const warnings: string[] = []
    const log = {
      info: () => {},
      error: () => {},
      warn: (_fields: object, text: string) => void warnings.push(text),
    }
    const { keeper, told } = keeperScene({ memory, log })
    await keeper.refresh()
    await keeper.refresh()
    expect(told).toEqual([0])
    expect(warnings).toHaveLength(1)
    expect(await keeper.apply(token())).toMatchObject({ ok: false, error: { code: 'store' } })
    memory.isAway = false
    await keeper.refresh()
    expect(told).toEqual([0, 500])
  })

  test('later leaves everything as it was', async () => {
    const { keeper, memory, told } = keeperScene()
    await keeper.apply(token({ maxRps: 12 }))
    memory.isAway = true
    await keeper.refresh()
    expect(keeper.state.maxRps).toBe(12)
    expect(await keeper.apply(token())).toMatchObject({ ok: false, error: { code: 'store' } })
    expect(told).toEqual([0, 500, 12])
  })

  test('while a token is revoked, is told as soon as it is back', async () => {
    server.answers(200, '{"valid":true}')
    const text = token({ exp: 0 })
    const { keeper, memory, time } = keeperScene({ environmentToken: text, ...withServer() })
    await keeper.refresh()
    server.answers(200, revoked)
    time.pass(hourMs)
    memory.isAway = true
    await keeper.refresh()
    expect(keeper.state.status).toBe('revoked')
    memory.isAway = false
    await keeper.refresh()
    expect(keeper.state.status).toBe('revoked')
    const digest = createHash('sha256').update(text).digest('hex')
    const stored = await memory.shared.get(`license.revoked.${digest}`)
    expect(stored.ok && stored.value).toBe(true)
  })
})

test('a wall clock that jumps ends a trial, and brings it back', async () => {
  const { keeper, time } = keeperScene()
  await keeper.refresh()
  time.jump(31 * dayMs)
  expect(keeper.state.status).toBe('expired')
  time.jump(startMs - time.clock.nowMs())
  await keeper.refresh()
  expect(keeper.state.status).toBe('trial')
})
