// Composes response rate limiting from the settings.
import { randomInt } from 'node:crypto'
import { createRateMemory, setRates } from '#answer/rate-limit/rate-memory.ts'
import type { RateMemory } from '#answer/rate-limit/rate-memory.ts'
import type { RateLimitRates } from '#answer/rate-limit/limits.ts'
import { RateWatch } from '#answer/rate-limit/rate-watch.ts'
import { createMachineClock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { systemAfter } from '#lib/timer.ts'
import type { DnsNode } from '#server/node/node.ts'
import type { Settings } from '#settings/settings.ts'

export class NodeRateLimit {
  readonly memory: RateMemory
  readonly #nowMs = createMachineClock()
  readonly #log: Log
  #watch: RateWatch | undefined

  constructor({ dns, anycast }: Settings, log: Log) {
    const { ipv4PrefixLength, ipv6PrefixLength, tableSize, exempt } = dns.rrl
    const settings = {
      ...{ rates: ratesOf(dns.rrl), buckets: tableSize },
      // A node that announces addresses queries itself from them.
      exempt: [...exempt, ...anycast.addresses.map(networkOf)],
      ...{ ipv4Bits: ipv4PrefixLength, ipv6Bits: ipv6PrefixLength },
    }
    // Threads that answer UDP, and one for TCP.
    const threads = dns.threads + 1
    this.memory = createRateMemory(settings, threads, randomInt(2 ** 32), this.#nowMs())
    this.#log = log
  }

  /** Logs the networks that are limited. */
  watch(node: Pick<DnsNode, 'counters'>): void {
    this.#watch = new RateWatch({
      memory: this.memory,
      limited: () =>
        node
          .counters()
          .flatMap(({ rateLimited }) => rateLimited)
          .reduce((sum, { count }) => sum + count, 0),
      ...{ nowMs: this.#nowMs, after: systemAfter, log: this.#log },
    })
    this.#watch.start()
  }

  /** Applies what SIGHUP can change. */
  reload({ dns }: Settings): void {
    setRates(this.memory, ratesOf(dns.rrl))
  }

  stop(): void {
    this.#watch?.stop()
  }
}

const networkOf = (address: string): string => `${address}/${address.includes(':') ? 128 : 32}`

/** @returns null: it is off, or this node answers no DNS */
export function createRateLimit(settings: Settings, log: Log): NodeRateLimit | null {
  const { dns, roles } = settings
  return dns.rrl.enabled && roles.includes('dns') ? new NodeRateLimit(settings, log) : null
}

function ratesOf(rrl: Settings['dns']['rrl']): RateLimitRates {
  return {
    perSecond: {
      answer: rrl.responsesPerSecond,
      referral: rrl.referralsPerSecond,
      nodata: rrl.nodataPerSecond,
      nxdomain: rrl.nxdomainsPerSecond,
      error: rrl.errorsPerSecond,
      all: rrl.allPerSecond,
    },
    windowMs: rrl.windowMs,
    slip: rrl.slip,
    isDryRun: rrl.dryRun,
  }
}
