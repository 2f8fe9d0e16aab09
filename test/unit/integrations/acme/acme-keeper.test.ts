import { expect, test } from 'vitest'
import { AcmeKeeper, keeperLimits } from '#integrations/acme/acme-keeper.ts'
import type { AskRenewal } from '#integrations/acme/ask-renewal.ts'
import type { CaProblem } from '#integrations/acme/ca-transport.ts'
import { CertificateVault } from '#integrations/acme/certificate-vault.ts'
import type {
  ExternalAccount,
  OrderCertificate,
  OrderedCertificate,
} from '#integrations/acme/order-certificate.ts'
import { Random } from '#lib/random.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { keptLog, lifeMs, memoryStore, orderedAt, standInCa } from '#test/support/certificates.ts'
import type { MemoryStore } from '#test/support/certificates.ts'
import { FakeTime } from '#test/support/fake-time.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const began = Date.UTC(2026, 10, 30)
const directory = 'https://ca.test/dir'
const noSolver = {
  typeFor: () => err('no name is proven here'),
  publish: async () => ok(null),
  withdraw: async () => undefined,
}

type Answer = () => Result<OrderedCertificate, CaProblem>

function world(
  answer: Answer,
  options: Partial<{
    node: string
    store: MemoryStore
    time: FakeTime
    names: string[]
    offsetMs: number
    directory: string
    canProve: () => boolean
    databaseNowMs: () => number
    askRenewal: AskRenewal
    externalAccount: () => Result<ExternalAccount, string>
    order: OrderCertificate
  }> = {},
) {
  const { node = 'c1', store = memoryStore(), time = new FakeTime(began) } = options
  const { names = ['ns.example.com'], offsetMs = 0, canProve = () => true } = options
  const { log, lines } = keptLog()
  store.nowMs = options.databaseNowMs ?? time.clock.nowMs
  const copy = { read: () => undefined, write: () => undefined }
  const secretKey = Buffer.alloc(32, 7)
  const vault = new CertificateVault({ store, copy, secretKey, clock: time.clock, log })
  const ca = standInCa(answer, offsetMs)
  const keeper = new AcmeKeeper({
    ...{
      vault: vault.of(''),
      entry: '',
      besides: [],
      wish: { directory: options.directory ?? directory, names },
      contact: [],
    },
    ...{ agreesToTerms: true, authorities: () => ok(undefined) },
    askRenewal: options.askRenewal ?? (async () => ok({ window: null, retryAfterMs: null })),
    externalAccount: options.externalAccount ?? (() => ok(undefined)),
    ...{
      order: options.order ?? ca.order,
      solver: noSolver,
      canProve,
      node,
      instance: `${Math.random()}`,
    },
    ...{ clock: time.clock, random: new Random(1), log },
  })
  const look = async (): Promise<void> => {
    await keeper.look()
    await keeper.idle()
  }
  return { time, store, vault, keeper, look, lines, asked: ca.asked }
}

test('a first certificate is asked for at once, a second at two thirds of its time', async () => {
  const { look, vault, time, asked } = world(() => ok(orderedAt(time.clock.nowMs())))
  await look()
  const { certificate } = vault.state
  expect(certificate).toMatchObject({ directory, names: ['ns.example.com'], issuedAtMs: began })
  const dueMs = certificate!.renewAtMs - began
  expect(dueMs).toBeGreaterThanOrEqual(lifeMs * (2 / 3 - 1 / 20))
  expect(dueMs).toBeLessThanOrEqual(lifeMs * (2 / 3))
  time.pass(dueMs - 1)
  await look()
  expect(asked).toHaveLength(1)
  time.pass(1)
  await look()
  expect(asked).toHaveLength(2)
  expect(vault.state.certificate!.issuedAtMs).toBe(began + dueMs)
  // It is the same account.
  expect(asked[1]!.account).toEqual(asked[0]!.account)
})

test('one of two control nodes that start at once asks', async () => {
  const store = memoryStore()
  const time = new FakeTime(began)
  const answer: Answer = () => ok(orderedAt(began))
  const [one, other] = ['c1', 'c2'].map((node) => world(answer, { node, store, time }))
  await Promise.all([one!.look(), other!.look()])
  await other!.vault.refresh()
  await one!.vault.refresh()
  expect(one!.asked.length + other!.asked.length).toBe(1)
  expect(one!.vault.state.certificate).toEqual(other!.vault.state.certificate)
})

test('an order of a dead node is taken over after ten minutes, by itself at once', async () => {
  const never = (): never => {
    throw new Error('nothing is asked')
  }
  for (const [node, waits] of [
    ['c2', keeperLimits.abandonedMs],
    ['c1', 0],
  ] as const) {
    const { store, vault, time } = world(never)
    await vault.change((state) => ok({ ...state, holder: 'c1 before' }))
    const { look, asked } = world(() => ok(orderedAt(began)), { node, store, time })
    if (waits > 0) {
      await look()
      time.pass(waits - 1)
      await look()
      expect(asked).toHaveLength(0)
      time.pass(1)
    }
    await look()
    expect(asked).toHaveLength(1)
  }
})

test('while the CA is away the certificate stays, and tries come ever less often', async () => {
  let isAway = false
  const gone = {
    code: 'away',
    message: 'ca.test cannot be asked: ECONNREFUSED',
    retryAfterMs: null,
  }
  const { look, vault, time, asked, lines } = world(() =>
    isAway ? err(gone) : ok(orderedAt(time.clock.nowMs())),
  )
  await look()
  const before = vault.state.certificate
  isAway = true
  time.passTo(before!.renewAtMs)
  const tries: number[] = []
  for (const endMs = time.clock.nowMs() + dayMs; time.clock.nowMs() < endMs; time.pass(60_000)) {
    const known = asked.length
    await look()
    if (asked.length > known) tries.push(time.clock.nowMs() - before!.renewAtMs)
  }
  expect(vault.state.certificate).toEqual(before)
  expect(tries.length).toBeLessThan(14)
  expect(tries.slice(0, 3).map((ms) => Math.round(ms / 60_000))).toEqual([0, 3, 8])
  expect(vault.state.failure).toMatchObject({ code: 'away', count: tries.length })
  const until = new Date(before!.notAfterMs).toISOString()
  expect(lines).toContain(`error: no new certificate; the one before serves until ${until}`)
  isAway = false
  time.passTo(vault.state.failure!.nextMs)
  await look()
  expect(vault.state.failure).toBeNull()
  expect(vault.state.certificate!.issuedAtMs).toBe(time.clock.nowMs())
})

test('a CA that limits rates is asked again when it said, also after a restart', async () => {
  const limited = { code: 'rateLimited', message: 'too many orders', retryAfterMs: 40 * hourMs }
  const first = world(() => err(limited))
  await first.look()
  const { store, time } = first
  const { look, asked } = world(() => ok(orderedAt(time.clock.nowMs())), { store, time })
  time.pass(40 * hourMs - 1)
  await look()
  expect(asked).toHaveLength(0)
  time.pass(4 * hourMs)
  await look()
  expect(asked).toHaveLength(1)
})

test.each([
  ['failed', 'away', 0],
  ['met a limit of rates', 'rateLimited', hourMs],
])('other names are asked for in spite of a pause, where those before %s', async (...row) => {
  const [, code, afterMs] = row
  const problem = { code, message: 'no', retryAfterMs: 40 * hourMs }
  const { store, time, look } = world(() => err(problem))
  await look()
  const next = world(() => ok(orderedAt(began)), { store, time, names: ['other.example.com'] })
  time.pass(Math.max(0, afterMs - 1))
  if (afterMs > 0) {
    await next.look()
    expect(next.asked).toHaveLength(0)
  }
  time.pass(1)
  await next.look()
  expect(next.vault.state.certificate?.names).toEqual(['other.example.com'])
})

test.each([
  [
    'names',
    { names: ['ns.example.com', 'b.example.com'] },
    { names: ['ns.example.com', 'c.test'] },
  ],
  ['directories', {}, { directory: 'https://staging.test/dir' }],
])('control nodes with different %s order ever less often, and say so', async (...row) => {
  const [, mine, theirs] = row
  const store = memoryStore()
  const time = new FakeTime(began)
  const answer: Answer = () => ok(orderedAt(time.clock.nowMs()))
  const one = world(answer, { node: 'c1', store, time, ...mine })
  const other = world(answer, { node: 'c2', store, time, ...theirs })
  const orders = () => one.asked.length + other.asked.length
  const each = async (endMs: number) => {
    for (; time.clock.nowMs() < endMs; time.pass(60_000)) {
      await one.look()
      await other.look()
    }
  }
  // A change of the settings, one node after the other, is one order.
  await each(began + 29 * 60_000)
  expect(orders()).toBe(2)
  const said = 'warn: no certificate for these names is asked for yet'
  expect(one.lines.filter((line) => line === said)).toHaveLength(1)
  await each(began + dayMs)
  expect(orders()).toBeLessThanOrEqual(11)
  await each(began + 7 * dayMs)
  expect(orders()).toBeLessThanOrEqual(20)
})

test('where rates are limited, each of two control nodes that differ keeps its pause', async () => {
  const store = memoryStore()
  const time = new FakeTime(began)
  const limited = { code: 'rateLimited', message: 'too many orders', retryAfterMs: dayMs }
  const nodes = ['c1', 'c2'].map((node) =>
    world(() => err(limited), { node, store, time, names: [`${node}.example.com`] }),
  )
  for (let minute = 0; minute < 23 * 60; minute++, time.pass(60_000)) {
    for (const { look } of nodes) await look()
  }
  expect(nodes.map(({ asked }) => asked.length)).toEqual([1, 1])
})

test('a certificate with more names than are asked for is kept until it is renewed', async () => {
  const names = ['ns.example.com', 'old.example.com']
  const { store, time, look, vault } = world(() => ok(orderedAt(began)), { names })
  await look()
  const fewer = world(() => ok(orderedAt(time.clock.nowMs())), { store, time })
  await fewer.look()
  expect(fewer.asked).toHaveLength(0)
  time.passTo(vault.state.certificate!.renewAtMs)
  await fewer.look()
  expect(fewer.vault.state.certificate?.names).toEqual(['ns.example.com'])
})

test('an order that goes on is not taken over, and one that was is no failure of it', async () => {
  const store = memoryStore()
  const time = new FakeTime(began)
  const end = Promise.withResolvers<Awaited<ReturnType<OrderCertificate>>>()
  const one = world(() => ok(orderedAt(began)), { store, time, order: () => end.promise })
  await one.keeper.look()
  const other = world(() => ok(orderedAt(began)), { node: 'c2', store, time })
  for (let minute = 0; minute < 30; minute++) {
    await other.look()
    time.pass(60_000)
    await one.keeper.look()
  }
  expect([one.keeper.isOrdering, other.asked.length]).toEqual([true, 0])
  // Its process stands still: nothing is heard of it.
  for (let minute = 0; minute < 12; minute++) {
    await other.look()
    time.pass(60_000)
  }
  expect(other.asked).toHaveLength(1)
  const gone = { code: 'away', message: 'gone', retryAfterMs: null }
  end.resolve({ result: err(gone), clockOffsetMs: null })
  await one.keeper.idle()
  await other.vault.refresh()
  expect(other.vault.state).toMatchObject({ failure: null, holder: null, pauses: [] })
  expect(other.vault.state.certificate?.issuedAtMs).toBeGreaterThan(began)
})

test('a node without configuration waits for it, and asks at once then', async () => {
  let hasOne = false
  const options = { canProve: () => hasOne }
  const { look, asked, vault } = world(() => ok(orderedAt(began)), options)
  await look()
  expect([asked.length, vault.state.failure]).toEqual([0, null])
  hasOne = true
  await look()
  expect(asked).toHaveLength(1)
})

test('an order that a stop calls off leaves no challenge behind', async () => {
  const order: OrderCertificate = async ({ signal }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    const problem = { code: 'away', message: 'called off', retryAfterMs: null }
    return { result: err(problem), clockOffsetMs: null }
  }
  const { keeper, vault } = world(() => ok(orderedAt(began)), { order })
  await keeper.look()
  const challenges = [{ host: 'www.example.net', token: 't', answer: 'a' }]
  await vault.change((state) => ok({ ...state, challenges }))
  await keeper.stop()
  expect(vault.state).toMatchObject({ holder: null, challenges: [], failure: null })
})

test('a certificate that the database did not take is stored later, asked for once', async () => {
  const { look, store, vault, asked, lines } = world(() => {
    store.isAway = true
    return ok(orderedAt(began))
  })
  await look()
  expect(lines.at(-1)).toBe('error: the new certificate cannot be stored yet; tried again')
  await look()
  store.isAway = false
  await look()
  await look()
  expect(asked).toHaveLength(1)
  expect(vault.state.certificate?.issuedAtMs).toBe(began)
})

test('the account of a customer goes with an order; without its key none is made', async () => {
  const account = { kid: 'kid-1', hmacKey: 'abc' }
  const answer: Answer = () => ok(orderedAt(began))
  const { look, asked } = world(answer, { externalAccount: () => ok(account) })
  await look()
  expect(asked[0]).toMatchObject({ externalAccount: account })
  const other = world(answer, { externalAccount: () => err('acme.eab.hmacKeyFile: no') })
  await other.look()
  expect(other.asked).toHaveLength(0)
  expect(other.vault.state.failure).toMatchObject({ code: 'eab' })
})

test('without the database nothing is asked for', async () => {
  const { look, store, asked } = world(() => ok(orderedAt(began)))
  store.isAway = true
  await look()
  expect(asked).toHaveLength(0)
})

test('a clock that is a day off is said, and renews no more often', async () => {
  const options = { offsetMs: dayMs }
  const { look, vault, keeper, time, lines, asked } = world(
    () => ok(orderedAt(time.clock.nowMs() - dayMs)),
    options,
  )
  await look()
  expect(keeper.clockOffsetMs).toBe(dayMs)
  expect(lines).toContain('warn: the clock of this node is not that of the CA')
  for (let day = 0; day < 50; day++, time.pass(dayMs)) await look()
  expect(asked).toHaveLength(1)
  expect(vault.state.certificate!.renewAtMs).toBeGreaterThan(time.clock.nowMs())
})

test.each([
  [40, [1, 2]],
  [70, [1, 2]],
])('a clock %s days ahead at issue, and put right, renews before the end', async (...row) => {
  const [days, orders] = row
  const { look, vault, time, asked } = world(() =>
    ok(orderedAt(vault.state.certificate ? time.clock.nowMs() : began)),
  )
  time.jump(days * dayMs)
  await look()
  time.jump(-days * dayMs)
  expect(asked).toHaveLength(orders[0]!)
  for (let day = 0; day < 85; day++, time.pass(dayMs)) await look()
  expect(asked).toHaveLength(orders[1]!)
  expect(vault.state.certificate!.notAfterMs).toBeGreaterThan(began + 120 * dayMs)
})

test.each([40, 80, 400])(
  'a clock that stays %s days ahead orders no more than once in nine days',
  async (days) => {
    const { look, time, asked } = world(() => ok(orderedAt(time.clock.nowMs() - days * dayMs)))
    for (let hour = 0; hour < 90 * 24; hour++, time.pass(hourMs)) await look()
    expect(asked.length).toBeGreaterThan(1)
    expect(asked.length).toBeLessThanOrEqual(11)
  },
)

test('an older dump of the database takes no valid certificate away', async () => {
  const { look, vault, store, time, lines } = world(() => ok(orderedAt(time.clock.nowMs())))
  await look()
  const older = store.row!
  time.passTo(vault.state.certificate!.renewAtMs)
  await look()
  const current = vault.state.certificate
  store.row = { ...older, version: 1 }
  await look()
  expect(vault.state.certificate).toEqual(current)
  expect(lines.filter((line) => line.includes('is older than the one in use'))).toHaveLength(1)
  const other = world(() => ok(orderedAt(began)), { store, time, node: 'c2' })
  await other.look()
  expect(other.vault.state.certificate).toEqual(current)
})

test('the CA says when to renew, as often as it wants, and is told what is replaced', async () => {
  const store = memoryStore()
  const time = new FakeTime(began)
  const window = { startMs: began + 10 * dayMs, endMs: began + 12 * dayMs, why: null }
  let asks = 0
  const askRenewal: AskRenewal = async () => {
    asks++
    const first = { ...window, endMs: began + 50 * dayMs }
    return ok({ window: asks === 1 ? first : window, retryAfterMs: dayMs / 2 })
  }
  const answer: Answer = () => ok(orderedAt(time.clock.nowMs()))
  const nodes = ['c1', 'c2'].map((node) => world(answer, { node, store, time, askRenewal }))
  const asked = () => nodes.flatMap((node) => node.asked)
  for (let hour = 0; hour < 9 * 24; hour++, time.pass(hourMs)) {
    for (const { look } of nodes) await look()
  }
  expect([asks, asked().length]).toEqual([18, 1])
  for (; asked().length < 2; time.pass(hourMs)) for (const { look } of nodes) await look()
  const renewedMs = time.clock.nowMs() - hourMs
  expect(renewedMs).toBeGreaterThanOrEqual(window.startMs)
  expect(renewedMs).toBeLessThanOrEqual(window.endMs + hourMs)
  expect(asked().map(({ replaces }) => replaces)).toEqual([undefined, `chain of ${began}`])
})

test('a CA that does not say it leaves the pace as it is, and is asked each hour', async () => {
  let asks = 0
  const gone = { code: 'away', message: 'gone', retryAfterMs: null }
  const askRenewal: AskRenewal = async () => {
    asks++
    return err(gone)
  }
  const answer: Answer = () => ok(orderedAt(time.clock.nowMs()))
  const { look, time, vault, asked } = world(answer, { askRenewal })
  for (let minute = 0; minute < 24 * 60; minute += 10, time.pass(600_000)) await look()
  expect(asks).toBeLessThanOrEqual(24)
  time.passTo(vault.state.certificate!.renewAtMs - 1)
  await look()
  expect(asked).toHaveLength(1)
  time.pass(1)
  await look()
  expect(asked).toHaveLength(2)
  expect(asked[1]!.replaces).toBeUndefined()
})

test('a pause is one for all, whatever the clocks of the control nodes say', async () => {
  const store = memoryStore()
  const time = new FakeTime(began)
  const limited = { code: 'rateLimited', message: 'too many orders', retryAfterMs: 40 * hourMs }
  const options = { store, databaseNowMs: time.clock.nowMs }
  const ahead = new FakeTime(began + 30 * dayMs)
  const behind = new FakeTime(began - 30 * dayMs)
  const one = world(() => err(limited), { ...options, node: 'c1', time: ahead })
  const other = world(() => err(limited), { ...options, node: 'c2', time: behind })
  await one.look()
  for (let hour = 0; hour < 40; hour++, time.pass(hourMs)) {
    await one.look()
    await other.look()
  }
  expect([one.asked.length, other.asked.length]).toEqual([1, 0])
  time.pass(5 * hourMs)
  await other.look()
  expect(other.asked).toHaveLength(1)
})
