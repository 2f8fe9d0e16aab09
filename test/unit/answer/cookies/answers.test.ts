import { expect, test } from 'vitest'
import { answer } from '#answer/answer.ts'
import { Counters } from '#answer/counters/counters.ts'
import { createServingView } from '#answer/serving-view.ts'
import { Transaction } from '#answer/transaction.ts'
import { noRoutingTables } from '#routing/choose/environment.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import { allocatedBytesPerCall } from '#test/support/allocated-bytes.ts'
import { bareModel, bundleOf, member, pool, service, zone } from '#test/support/bundle-models.ts'
import { cookieCells, cookieIn, cookieOption } from '#test/support/dns/cookies.ts'
import { decodeMessage, query } from '#test/support/dns/message.ts'
import type { Message } from '#test/support/dns/message.ts'

const bundle = bundleOf({
  ...bareModel,
  zones: [zone('test.')],
  pools: [pool(1, [member('192.0.2.1')])],
  services: [service(1, 'a.test.', {})],
})
const client = '2464c4abcf10c957'

class Scene {
  readonly counters = new Counters(new SharedArrayBuffer(Counters.bytes))
  readonly tx: Transaction
  readonly #slot = new Uint8Array(1_232)

  constructor(cookies: SharedArrayBuffer | undefined) {
    const settings = { udpPayloadSize: 1_232, nsid: '', versionBind: '', tcpIdleTimeoutMs: 0 }
    this.tx = new Transaction({ ...settings, cookies }, 1, this.counters)
    const tables = noRoutingTables
    const routing = createRoutingState(bundle, 1).buffers
    const { bytes, digest } = bundle
    this.tx.adopt(createServingView({ number: 1, bundle: bytes, digest, routing, tables }))
  }

  /** Over the octets of the query, as responders do. */
  write(octets: Uint8Array): number {
    this.#slot.set(octets)
    return answer(this.tx, this.#slot, 0, octets.length, this.#slot, 0, this.#slot.length)
  }

  ask(...cookies: readonly string[]): Message {
    const length = this.write(asked(...cookies))
    return decodeMessage(Buffer.from(this.#slot.subarray(0, length)))
  }
}

const asked = (...cookies: readonly string[]): Buffer =>
  query('a.test. A', { opt: { options: cookies.map(cookieOption) } })

test('the transaction says whether the cookie is valid, for one query', () => {
  const scene = new Scene(cookieCells())
  const cookie = cookieIn(scene.ask(client))!
  const said = [client, cookie, cookie.replace(/.$/, 'f'), client].map((sent) => {
    scene.ask(sent)
    return scene.tx.hasValidCookie
  })
  expect(said).toEqual([false, true, cookie.endsWith('f'), false])
  scene.ask(cookie)
  scene.ask()
  expect(scene.tx.hasValidCookie).toBe(false)
})

test('queries are counted by what they say of cookies', () => {
  const scene = new Scene(cookieCells())
  const cookie = cookieIn(scene.ask(client))!
  const old = `${cookie.slice(0, 24)}00000000${cookie.slice(32)}`
  for (const sent of [[], [cookie], [cookie], ['ff'], [`${client}${'0'.repeat(32)}`], [old]]) {
    scene.ask(...sent)
  }
  expect(scene.counters.snapshot().byCookie).toEqual({
    ...{ none: 1, malformed: 1, client: 1, valid: 2, expired: 1, invalid: 1 },
  })
})

test('BADCOOKIE is counted as a response', () => {
  const scene = new Scene(cookieCells({ enforces: true }))
  scene.ask(client)
  expect(scene.counters.snapshot().byRcode).toEqual({ 23: 1 })
})

const madeSeconds = 1_559_731_985
test.each([
  ['a client cookie', 'client', () => client, 0],
  ['a valid cookie', 'valid', (cookie: string) => cookie, 0],
  ['one that is renewed', 'valid', (cookie: string) => cookie, 1_900],
  ['one that is not valid', 'invalid', (cookie: string) => cookie.replace(/..$/, ''), 0],
  [
    'one of other octets',
    'invalid',
    (cookie: string) => `${cookie.slice(0, 32)}${'0'.repeat(16)}`,
    0,
  ],
] as const)('%s: nothing is allocated', (_, kind, sent, ageSeconds) => {
  const cookie = cookieIn(new Scene(cookieCells()).ask(client))!
  const scene = new Scene(cookieCells({ nowSeconds: madeSeconds + ageSeconds }))
  const octets = asked(sent(cookie))
  const repeat = (times: number): void => {
    for (let i = 0; i < times; i++) scene.write(octets)
  }
  expect(allocatedBytesPerCall(repeat, 2_000)).toBeLessThan(1)
  expect(scene.counters.snapshot().byCookie[kind]).toBe(41 * 2_000)
})
