import { expect, test } from 'vitest'
import { AcmeKeeper, keeperLimits } from '#integrations/acme/acme-keeper.ts'
import type { CaProblem } from '#integrations/acme/ca-transport.ts'
import { CertificateVault } from '#integrations/acme/certificate-vault.ts'
import type { OrderedCertificate } from '#integrations/acme/order-certificate.ts'
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
  }> = {},
) {
  const { node = 'c1', store = memoryStore(), time = new FakeTime(began) } = options
  const { names = ['ns.example.com'], offsetMs = 0 } = options
  const { log, lines } = keptLog()
  const copy = { read: () => undefined, write: () => undefined }
  const secretKey = Buffer.alloc(32, 7)
  const vault = new CertificateVault({ store, copy, secretKey, clock: time.clock, log })
  const ca = standInCa(answer, offsetMs)
  const keeper = new AcmeKeeper({
    ...{ vault, wish: { directory, names }, contact: [] },
    ...{ agreesToTerms: true, authorities: () => ok(undefined) },
    ...{ order: ca.order, solver: noSolver, node, instance: `${Math.random()}` },
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

test('other names are asked for at once, in spite of a pause', async () => {
  const limited = { code: 'rateLimited', message: 'too many orders', retryAfterMs: 40 * hourMs }
  const { store, time, look } = world(() => err(limited))
  await look()
  const next = world(() => ok(orderedAt(began)), { store, time, names: ['other.example.com'] })
  await next.look()
  expect(next.vault.state.certificate?.names).toEqual(['other.example.com'])
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
