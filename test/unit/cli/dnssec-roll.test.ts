// `gslbd dnssec roll` and `seen`: a control node is asked over its API, and says what follows.
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyOf, rootKey } from '#test/support/config-world.ts'
import { startZoneKeysWorld } from '#test/support/dns/zone-keys-world.ts'
import type { ZoneKeysWorld } from '#test/support/dns/zone-keys-world.ts'
import { startStandIn } from '#test/support/http-stand-in.ts'
import { runCliWith } from '#test/support/run-cli.ts'

const zone = 'gslb.example.com.'
let keys: ZoneKeysWorld
let url: string

beforeAll(async () => {
  keys = await startZoneKeysWorld(zone, 'other.example.')
  const { app } = keys.world
  await app.listen({ host: '127.0.0.1', port: 0 })
  url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
})
afterAll(() => keys.stop())

const env = { GSLB_API_KEY: rootKey }
const call = (...args: readonly string[]) => runCliWith(env, 'dnssec', ...args, '--url', url)

test('seen: what the parent has is said when it may have it, and not before', async () => {
  const { first, keeper, clock } = keys
  const early = await call('seen', zone, `${first.tag}`)
  expect([early.exit, early.out]).toEqual([1, ''])
  expect(early.err).toContain(`409 Key ${first.tag} may not have its DS record`)
  for (let i = 0; i < 60; i++) {
    const nowMs = clock.nowMs() + 600_000
    clock.nowMs = () => nowMs
    await keeper.look()
  }
  const told = await call('seen', 'GSLB.example.com', `${first.tag}`)
  expect([told.exit, told.err]).toEqual([0, ''])
  expect(told.out).toBe(`${zone}: the parent has the DS record of key ${first.tag}.\n`)
})

test('a role that the zone has no key of is refused with what it has', async () => {
  const { exit, out, err } = await call('roll', zone, '--key', 'zsk')
  expect([exit, out]).toEqual([1, ''])
  expect(err).toContain('The zone has no ZSK: its keys are csk.')
})

test('a roll begins, and what it waits for is said', async () => {
  const { exit, out, err } = await call('roll', 'GSLB.example.com', '--key', 'csk')
  expect([exit, err]).toEqual([0, ''])
  expect(out).toMatch(/^gslb\.example\.com\.: the roll has begun, .*\n {2}Key \d+ .* from .*\n/)
  expect(keys.keeper.views()).toHaveLength(1)
})

test('while it goes on, another one is an emergency', async () => {
  const again = await call('roll', zone)
  expect([again.exit, again.out]).toEqual([1, ''])
  expect(again.err).toContain('409 A roll of this zone goes on.')
  expect((await call('roll', zone, '--emergency')).exit).toBe(0)
})

test.each([
  ['a key without the permission', keyOf('zenith'), zone, '403'],
  ['no key that it knows', 'gslb_wrong', zone, '401'],
])('%s is said to be', async (_what, key, name, status) => {
  const asked = ['dnssec', 'roll', name, '--url', url]
  const { exit, err } = await runCliWith({ GSLB_API_KEY: key }, ...asked)
  expect(exit).toBe(1)
  expect(err).toContain(`gslbd dnssec: ${url}/api/v1/dnssec/zones/${name}/roll: ${status} `)
})

test('text from a server cannot move the cursor', async () => {
  const body = { waiting: [{ message: 'Key 1\u001b[2J' }, { message: 7 }, null] }
  const standIn = await startStandIn(() => ({ status: 202, body }))
  const { exit, out } = await runCliWith(env, 'dnssec', 'roll', zone, '--url', standIn.url)
  expect([exit, out]).toEqual([0, expect.stringMatching(/itself\.\n {2}Key 1\?\[2J\n$/)])
  expect(standIn.asked[0]?.body).toEqual({ which: 'all', emergency: false })
})

test.each([
  [['roll']],
  [['roll', zone, 'example.net.']],
  [['roll', zone, '--key', 'dsk']],
  [['roll', zone, '--settings', 'gslbd.yaml']],
  [['status', '--emergency']],
  [['seen', zone]],
  [['seen', zone, 'KSK']],
  [['seen', zone, '65536']],
  [['seen', zone, '1', '2']],
  [['seen', zone, '1', '--emergency']],
])('a wrong call: %j', async (args) => {
  expect((await call(...args)).exit).toBe(2)
})

test.each(['roll', 'seen'])('%s: a zone that is not signed is named', async (verb) => {
  const { exit, err } = await call(verb, 'none.example', ...(verb === 'seen' ? ['1'] : []))
  expect(exit).toBe(1)
  expect(err).toMatch(/^gslbd dnssec: none.example. is not signed there: "gslbd dnssec status" has/)
})
