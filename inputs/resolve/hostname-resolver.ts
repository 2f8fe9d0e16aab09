// Resolves host names of members: again when the TTL ends, and keeps the last good addresses.
import { backoffMs } from '#lib/backoff.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import type { Random } from '#lib/random.ts'
import { Rarely } from '#lib/timer.ts'
import type { After } from '#lib/timer.ts'
import type { LastAddresses } from '#state/ports/last-addresses.ts'
import { DueHeap } from '#health/thread/due-heap.ts'
import type { DueItem } from '#health/thread/due-heap.ts'
import { AddressChanges } from './address-changes.ts'
import type { AddressSource, HostnameStatus, ResolveCounts } from './address-source.ts'
import { resolveLimits } from './limits.ts'
import { lookupFaults } from './lookup.ts'
import type { FoundAddresses, Lookup, LookupFault, LookupResult } from './lookup.ts'
import { canonical, isLocal, slotsFor, whyNoTarget } from './usable-addresses.ts'

interface HostnameResolverParts {
  readonly lookup: Lookup
  /** True: loopback and link-local addresses are answered. */
  readonly allowLocal: boolean
  /** null: after a restart nothing is known until the first lookup. */
  readonly last: LastAddresses | null
  readonly clock: Clock
  readonly after: After
  readonly random: Random
  readonly log: Log
}

/** Queued unless it is being looked up. */
interface Name extends DueItem {
  readonly hostname: string
  v4: readonly string[]
  v6: readonly string[]
  resolvedAtMs: number
  error: string
  unused: number
  failures: number
  hasTried: boolean
  /** Logs its addresses; undefined: they have not changed yet. */
  changed?: Rarely
}

/** Sentences about faults, which follow `does not resolve: `. */
const faultSentences: Readonly<Record<LookupFault, string>> = {
  timeout: 'no name server answers in time',
  'no-such-name': 'there is no such name',
  'no-addresses': 'the name has no addresses',
  'server-failure': 'the name server fails (SERVFAIL)',
  refused: 'the name server refuses to answer',
  'bad-answer': 'the name server answers nonsense',
  'unusable-addresses': '',
  other: 'it cannot be looked up on this machine',
}

export class HostnameResolver implements AddressSource {
  readonly #parts: HostnameResolverParts
  #names = new Map<string, Name>()
  readonly #line = new DueHeap<Name>()
  /** Names that were never looked up. */
  #untried = 0
  readonly #failures = Object.fromEntries(lookupFaults.map((fault) => [fault, 0])) as Record<
    LookupFault,
    number
  >
  readonly #changes: AddressChanges
  #callOffPump: (() => void) | undefined
  #running = 0
  #isStopped = false
  #waiting: (() => void)[] = []

  constructor(parts: HostnameResolverParts) {
    this.#parts = parts
    const { last, clock, after } = parts
    const store = last === null ? null : () => this.#store(last)
    this.#changes = new AddressChanges({ clock, after, batchMs: resolveLimits.batchMs, store })
  }

  /** Calls `handler` with host names whose addresses or errors changed. */
  onChange(handler: (hostnames: readonly string[]) => void): void {
    this.#changes.onChange(handler)
  }

  /** Sets all host names of the active bundle: new ones are looked up at once, others dropped. */
  want(hostnames: Iterable<string>): void {
    const before = this.#names
    this.#names = new Map()
    for (const hostname of hostnames) {
      if (this.#names.has(hostname)) continue
      const known = before.get(hostname)
      before.delete(hostname)
      this.#names.set(hostname, known ?? this.#join(hostname))
    }
    for (const name of before.values()) this.#leave(name)
    this.#pump()
  }

  #join(hostname: string): Name {
    const name = this.#newName(hostname)
    this.#untried++
    this.#line.add(name)
    return name
  }

  #leave(name: Name): void {
    this.#line.remove(name)
    name.changed?.stop()
    if (!name.hasTried) this.#untried--
    name.hasTried = true
  }

  statusOf(hostname: string): HostnameStatus {
    const { v4, v6, resolvedAtMs, error, unused } =
      this.#names.get(hostname) ?? this.#newName(hostname)
    return { v4, v6, resolvedAtMs, error, unused }
  }

  /** Resolves when each host name was looked up once, or the patience of a start is over. */
  async settled(): Promise<void> {
    if (this.#untried === 0) return
    await new Promise<void>((resolve) => {
      const callOff = this.#parts.after(resolveLimits.startPatienceMs, resolve)
      this.#waiting.push(() => {
        callOff()
        resolve()
      })
    })
  }

  counts(): ResolveCounts {
    const hostnames = { resolved: 0, stale: 0, unresolved: 0 }
    const nowMs = this.#parts.clock.nowMs()
    let oldestMs = nowMs
    for (const { resolvedAtMs, error } of this.#names.values()) {
      if (resolvedAtMs === 0) hostnames.unresolved++
      else {
        if (error === '') hostnames.resolved++
        else hostnames.stale++
        oldestMs = Math.min(oldestMs, resolvedAtMs)
      }
    }
    return { hostnames, ageSeconds: (nowMs - oldestMs) / 1000, failures: { ...this.#failures } }
  }

  stop(): void {
    this.#isStopped = true
    this.#callOffPump?.()
    this.#changes.stop()
    for (const { changed } of this.#names.values()) changed?.stop()
    this.#names.clear()
  }

  #newName(hostname: string): Name {
    const stored = this.#parts.last?.of(hostname)
    const max = resolveLimits.addressesMax
    return {
      hostname,
      v4: slotsFor(stored?.v4 ?? [], stored?.v4 ?? [], max),
      v6: slotsFor(stored?.v6 ?? [], stored?.v6 ?? [], max),
      resolvedAtMs: stored?.atMs ?? 0,
      error: '',
      unused: 0,
      failures: 0,
      dueMs: this.#parts.clock.monotonicMs(),
      heapIndex: -1,
      hasTried: false,
    }
  }

  /** Starts lookups that are due, then sleeps until the next one is. */
  #pump(): void {
    this.#callOffPump?.()
    this.#callOffPump = undefined
    const nowMs = this.#parts.clock.monotonicMs()
    while (!this.#isStopped) {
      const name = this.#line.first
      // At the limit, the end of a lookup calls this again.
      if (name === undefined || this.#running >= resolveLimits.inFlightMax) return
      if (name.dueMs > nowMs) break
      this.#line.remove(name)
      this.#start(name)
    }
    if (this.#isStopped) return
    this.#callOffPump = this.#parts.after(Math.max(this.#line.first!.dueMs - nowMs, 0), () => {
      this.#pump()
    })
  }

  #start(name: Name): void {
    this.#running++
    void this.#parts.lookup(name.hostname).then((result) => {
      this.#running--
      if (!name.hasTried) this.#untried--
      name.hasTried = true
      // It may have been dropped meanwhile.
      if (this.#names.get(name.hostname) === name) {
        this.#take(name, result)
        this.#line.add(name)
      }
      if (this.#untried === 0) for (const done of this.#waiting.splice(0)) done()
      this.#pump()
    })
  }

  #take(name: Name, result: LookupResult): void {
    const found = result.ok ? this.#usable(result) : undefined
    if (found === undefined || !found.ok) {
      const fault = result.ok ? 'unusable-addresses' : result.fault
      this.#fail(name, fault, found?.why ?? faultSentences[fault])
      return
    }
    const max = resolveLimits.addressesMax
    const before = [...name.v4, ...name.v6].join(' ')
    // A family without any answer keeps its addresses.
    if (found.v4 !== undefined) name.v4 = slotsFor(name.v4, found.v4, max)
    if (found.v6 !== undefined) name.v6 = slotsFor(name.v6, found.v6, max)
    const wasFailing = name.error !== ''
    name.resolvedAtMs = this.#parts.clock.nowMs()
    name.error = ''
    name.failures = 0
    name.unused = [found.v4, found.v6].reduce(
      (sum, list) => sum + Math.max(0, (list?.length ?? 0) - max),
      0,
    )
    const { ttlSecondsMin, ttlSecondsMax, jitter } = resolveLimits
    const ttlSeconds = Math.min(Math.max(found.ttlSeconds, ttlSecondsMin), ttlSecondsMax)
    this.#dueIn(name, ttlSeconds * 1000 * (1 - jitter * (this.#parts.random.next() / 2 ** 32)))
    const isChanged = before !== [...name.v4, ...name.v6].join(' ')
    const { storeEveryMs, storeAgainMs } = resolveLimits
    this.#changes.storeWithin(isChanged ? storeEveryMs : storeAgainMs)
    if (!isChanged && !wasFailing) return
    name.changed ??= new Rarely(this.#parts.after, resolveLimits.logEveryMs, (changes) => {
      this.#logAddresses(name, changes)
    })
    name.changed.note()
    this.#changes.add(name.hostname)
  }

  #logAddresses({ hostname, v4, v6, unused }: Name, changes: number): void {
    const fields = { hostname, addresses: [...v4, ...v6].filter(Boolean), unused }
    const often = changes > 1 ? { changes } : {}
    this.#parts.log.info({ ...fields, ...often }, 'host name resolved')
  }

  #fail(name: Name, fault: LookupFault, why: string): void {
    this.#failures[fault]++
    name.failures++
    this.#dueIn(name, backoffMs(resolveLimits.retries, name.failures))
    if (name.error === why) return
    name.error = why
    const { hostname, resolvedAtMs } = name
    const since = resolvedAtMs === 0 ? null : new Date(resolvedAtMs).toISOString()
    this.#parts.log.warn(
      { hostname, reason: why, since },
      resolvedAtMs === 0
        ? 'a host name does not resolve, and has no addresses to answer'
        : 'a host name does not resolve; its last good addresses are answered',
    )
    this.#changes.add(name.hostname)
  }

  #dueIn(name: Name, delayMs: number): void {
    name.dueMs = this.#parts.clock.monotonicMs() + delayMs
  }

  /**
   * Addresses that clients may be sent to, sorted, so that nodes with equal answers fill equal
   * slots.
   */
  #usable({ v4, v6, ttlSeconds }: LookupResult & { readonly ok: true }) {
    let refused = ''
    const usable = (list: FoundAddresses): FoundAddresses =>
      list
        ?.filter((address) => {
          const why = whyNoTarget(address)
          if (why === undefined || (this.#parts.allowLocal && isLocal(why))) return true
          refused ||= `${address} is ${why}`
          return false
        })
        .map(canonical)
        .toSorted()
    const [found4, found6] = [usable(v4), usable(v6)]
    const count = (found4?.length ?? 0) + (found6?.length ?? 0)
    if (count > 0) return { ok: true, v4: found4, v6: found6, ttlSeconds, why: '' } as const
    const remedy = 'give it another address, or set dns.allowLocalTargets'
    return { ok: false, why: `${refused}; ${remedy}` } as const
  }

  #store(last: LastAddresses): void {
    const known = [...this.#names.values()].filter(({ resolvedAtMs }) => resolvedAtMs > 0)
    last.keep(
      known.map(({ hostname, v4, v6, resolvedAtMs: atMs }) => ({
        hostname,
        v4: v4.filter(Boolean),
        v6: v6.filter(Boolean),
        atMs,
      })),
    )
  }
}
