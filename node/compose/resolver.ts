// Composes the resolver of members' host names: name servers, the last good addresses, limits.
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import type { Settings } from '#settings/settings.ts'
import { systemClock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { Random } from '#lib/random.ts'
import { systemAfter } from '#lib/timer.ts'
import { HostnameResolver } from '#inputs/resolve/hostname-resolver.ts'
import { createDnsLookup } from '#inputs/resolve/lookup.ts'
import { createFileLastAddresses } from '#state/file/last-addresses.ts'

export function createNodeResolver({ dns }: Settings, dataDir: string, log: Log): HostnameResolver {
  return new HostnameResolver({
    lookup: createDnsLookup(dns.resolvers),
    allowLocal: dns.allowLocalTargets,
    last: createFileLastAddresses(join(dataDir, 'resolved', 'addresses.jsonl'), systemClock, log),
    clock: systemClock,
    after: systemAfter,
    random: new Random(randomInt(0x1_0000_0000)),
    log,
  })
}
