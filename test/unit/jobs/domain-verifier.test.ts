import { beforeEach, describe, expect, test } from 'vitest'
import { DomainVerifier, verifierLimits } from '#jobs/domain-verifier.ts'
import { Random } from '#lib/random.ts'
import { err, ok } from '#lib/result.ts'
import type { DomainResult, Domains, OwnedDomain } from '#state/ports/domains.ts'
import { settle } from './hand-timers.ts'

const intervalMs = 600_000
const away = { code: 'store-away', message: 'The database is away.' } as const
const resultOf = (domain: string, verifiedAtMs: number): DomainResult => ({
  ...{ domain, nsOk: true, dsOk: false, dsExpected: false, error: '', checks: [], verifiedAtMs },
})

/** As a database does it, for nodes of one process. */
class SharedStore implements Domains {
  readonly rows = new Map<string, { result?: DomainResult; untilMs: number }>()
  isAway = false
  claims = 0

  claim: Domains['claim'] = async (candidates, { nowMs, dueBeforeMs, untilMs }) => {
    this.claims++
    if (this.isAway) return err(away)
    const mine = candidates.filter(({ uid }) => {
      const row = this.rows.get(uid)
      if (row === undefined) return true
      return row.untilMs <= nowMs && (row.result?.verifiedAtMs ?? 0) <= dueBeforeMs
    })
    for (const { uid } of mine) this.rows.set(uid, { ...this.rows.get(uid), untilMs })
    return ok(new Set(mine.map(({ uid }) => uid)))
  }
  put: Domains['put'] = async (uid, result) => {
    if (this.isAway) return err(away)
    this.rows.set(uid, { result, untilMs: 0 })
    return ok(undefined)
  }
  results: Domains['results'] = async () => ok(new Map())
  forget: Domains['forget'] = async () => ok(undefined)
}

const domainOf = (i: number, tenant: string): OwnedDomain => ({
  ...{ uid: `d${i}`, domain: `z${i}.example.`, tenant },
})

let nowMs: number
let store: SharedStore
let domains: OwnedDomain[]
let checked: string[]
let told: string[]
/** A promise that a check waits for. */
let pause: Promise<void>
beforeEach(() => {
  nowMs = 1_000_000
  store = new SharedStore()
  domains = Array.from({ length: 50 }, (_, i) => domainOf(i, `t${i}`))
  checked = []
  told = []
  pause = Promise.resolve()
})

const node = (seed: number, check?: (domain: string) => void) =>
  new DomainVerifier({
    store,
    domains: () => domains,
    check: async (domain) => {
      checked.push(domain)
      check?.(domain)
      await pause
      return resultOf(domain, nowMs)
    },
    intervalMs,
    clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
    random: new Random(seed),
    log: {
      info: () => undefined,
      warn: (_fields, message) => told.push(message),
      error: () => undefined,
    },
  })

describe('domains are checked', () => {
  test('once by one of several nodes, and again after the interval', async () => {
    const nodes = [node(1), node(2), node(3)]
    await Promise.all(nodes.map((one) => one.look()))
    expect(checked.toSorted()).toEqual(domains.map(({ domain }) => domain).toSorted())
    nowMs += intervalMs * 0.85
    await Promise.all(nodes.map((one) => one.look()))
    expect(checked.length).toBe(50)
    nowMs += intervalMs * 0.3
    await Promise.all(nodes.map((one) => one.look()))
    expect(checked.length).toBe(100)
  })

  test('not all at the same moment', async () => {
    const one = node(1)
    await one.look()
    nowMs += intervalMs
    await one.look()
    expect(checked.length).toBeGreaterThan(60)
    expect(checked.length).toBeLessThan(90)
  })

  test('by another node when the one that took them is gone', async () => {
    await store.claim(domains, { nowMs, dueBeforeMs: 0, untilMs: nowMs + verifierLimits.claimMs })
    const other = node(2)
    await other.look()
    expect(checked).toEqual([])
    nowMs += intervalMs * 0.3
    await other.look()
    expect(checked.length).toBe(50)
  })

  test('as many as there is time for; the rest in the next look', async () => {
    const slow = node(1, () => (nowMs += verifierLimits.lookMs / verifierLimits.atOnce))
    await slow.look()
    expect(checked.length).toBe(verifierLimits.atOnce)
    await slow.look()
    expect(checked.length).toBe(2 * verifierLimits.atOnce)
  })

  test('by tenants in turn, however many one has', async () => {
    domains = Array.from({ length: 50 }, (_, i) => domainOf(i, i < 48 ? 'many' : `few${i}`))
    const slow = node(1, () => (nowMs += verifierLimits.lookMs / verifierLimits.atOnce))
    await slow.look()
    expect(checked.slice(0, 4)).toEqual([
      'z0.example.',
      'z48.example.',
      'z49.example.',
      'z1.example.',
    ])
  })

  test('not while the store is away, which is told once', async () => {
    store.isAway = true
    const one = node(1)
    await one.look()
    await one.look()
    expect([checked.length, store.claims]).toEqual([0, 2])
    expect(told).toEqual(['delegated domains are not checked: The database is away.'])
    store.isAway = false
    await one.look()
    expect(checked.length).toBe(50)
  })

  test('not while the store is being made, which is no news', async () => {
    store.claim = async () => err({ code: 'store-starting', message: 'It is being made.' })
    await node(1).look()
    expect([checked, told]).toEqual([[], []])
  })

  test('where there are none, without a word to the store', async () => {
    domains = []
    await node(1).look()
    expect(store.claims).toBe(0)
  })
})

describe('a check that is asked for', () => {
  test('is made at once, and one for all who ask at the same time', async () => {
    const one = node(1)
    const asked = await Promise.all([one.verify(domains[0]!), one.verify(domains[0]!)])
    expect(asked).toEqual([ok(resultOf('z0.example.', nowMs)), ok(resultOf('z0.example.', nowMs))])
    expect(checked).toEqual(['z0.example.'])
    await one.verify(domains[0]!)
    expect(checked.length).toBe(2)
  })

  test('is refused when many run already', async () => {
    const { promise, resolve } = Promise.withResolvers<undefined>()
    pause = promise
    const one = node(1)
    const running = domains.slice(0, verifierLimits.askedMax).map((domain) => one.verify(domain))
    await settle()
    expect(await one.verify(domains[40]!)).toEqual(err('busy'))
    resolve(undefined)
    expect((await Promise.all(running)).every(({ ok: isOk }) => isOk)).toBe(true)
    expect((await one.verify(domains[40]!)).ok).toBe(true)
  })

  test('leaves places for other tenants', async () => {
    const { promise, resolve } = Promise.withResolvers<undefined>()
    pause = promise
    const one = node(1)
    const own = Array.from({ length: verifierLimits.askedPerTenantMax + 1 }, (_, i) =>
      domainOf(i, 'acme'),
    )
    const running = own.slice(1).map((domain) => one.verify(domain))
    await settle()
    expect(await one.verify(own[0]!)).toEqual(err('busy'))
    const others = one.verify(domainOf(40, 'zenith'))
    resolve(undefined)
    const done = await Promise.all([...running, others])
    expect(done.every(({ ok: isOk }) => isOk)).toBe(true)
  })

  test('fails with the store', async () => {
    store.isAway = true
    expect(await node(1).verify(domains[0]!)).toEqual(err(away))
  })
})
