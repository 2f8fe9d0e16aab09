// Composes the announcement of a node's addresses: its settings, the check of its own answers, its
// guard.
import type { Settings } from '#settings/settings.ts'
import type { Io } from '#system/process/command.ts'
import { parseAddress } from '#dns/address.ts'
import { isInNetwork } from '#dns/network.ts'
import { systemClock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { systemAfter } from '#lib/timer.ts'
import { Anycast } from '#server/anycast/anycast.ts'
import type { AnycastStatus } from '#server/anycast/anycast.ts'
import { networksOf } from '#routing/tables/network-list.ts'
import { askSelf } from '#server/anycast/self-query.ts'
import type { DnsNode } from '#server/node/node.ts'
import { zoneName } from '#zones/transfer/zone-records.ts'
import { driverOf } from './drivers.ts'
import { Guard } from './guard.ts'

interface NodeAnycastParts {
  readonly settings: Settings
  readonly node: Pick<DnsNode, 'bundle' | 'status'>
  readonly dnsPort: number
  /** True when another process has announced the addresses until now. */
  readonly takesOver: boolean
  readonly env: Io['env']
  readonly log: Log
}

export interface NodeAnycast {
  readonly status: () => NodeAnycastStatus
  /** Withdraws and waits for the routers; or leaves the routes to the next process. */
  readonly stop: (isReplaced: boolean) => Promise<void>
  /** Withdraws at once: nothing answers here any more. */
  readonly end: () => Promise<void>
}

export interface NodeAnycastStatus extends AnycastStatus {
  readonly daemon: Settings['anycast']['driver']
  /** False when a killed node would stay announced until something else withdraws its routes. */
  readonly isGuarded: boolean
}

/** Longest wait for the node's answer to its own query. */
const patienceMsMax = 1_000
/** The root in wire form: where there is no zone, a refusal counts as an answer. */
const rootName = new Uint8Array(1)

/** @returns null: the settings announce nothing */
export function announceNode(parts: NodeAnycastParts): NodeAnycast | null {
  const { settings, dnsPort, takesOver, env, log } = parts
  const { anycast: section } = settings
  const driver = driverOf(section)
  if (driver === null) return null
  const guard = new Guard(section, env, log)
  const patienceMs = Math.min(section.intervalMs, patienceMsMax)
  const name = nameIn(parts.node)
  const proxies = networksOf(settings.dns.proxyProtocol)
  const isProxy = (address: string): boolean => {
    const octets = parseAddress(address)
    return octets.ok && proxies.some((network) => isInNetwork(octets.value, network))
  }
  const anycast = new Anycast({
    settings: section,
    ...{ driver, takesOver, log, clock: systemClock, after: systemAfter },
    issuedAtMs: () => parts.node.status().active?.issuedAtMs ?? null,
    askSelf: (address) =>
      askSelf(
        { address, port: dnsPort, name: name(), patienceMs, isProxy: isProxy(address) },
        systemClock,
      ),
  })
  anycast.start()
  return {
    status: () => ({
      ...anycast.status(),
      ...{ daemon: section.driver, isGuarded: guard.isWatching },
    }),
    stop: (isReplaced) => (isReplaced ? anycast.pause() : anycast.drain()),
    end: () => guard.end(),
  }
}

/** The apex of the first zone. */
function nameIn(node: Pick<DnsNode, 'bundle'>): () => Uint8Array {
  let bundle = node.bundle()
  let name: Uint8Array | undefined
  return () => {
    const now = node.bundle()
    if (now !== bundle) name = undefined
    bundle = now
    const hasZone = now !== undefined && now.zoneNode.length > 0
    return (name ??= hasZone ? zoneName(now, 0) : rootName)
  }
}
