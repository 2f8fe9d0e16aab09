// Finds name servers by asking the configured resolvers.
import { Resolver } from 'node:dns/promises'
import { err, ok } from '#lib/result.ts'
import { resolveLimits } from '#inputs/resolve/limits.ts'
import { createDnsLookup } from '#inputs/resolve/lookup.ts'
import { delegationLimits } from './limits.ts'
import type { ServerName } from './root-hints.ts'
import type { ZoneFinder } from './zone-finder.ts'

/** @param resolvers addresses, with a port as in `127.0.0.1:5353`; at least one */
export function createResolverFinder(
  resolvers: readonly string[],
  hints: readonly ServerName[],
): ZoneFinder {
  const lookup = createDnsLookup(resolvers)
  return {
    parentOf: async (domain) => {
      const { tryMs, tries, lookupMs } = resolveLimits
      const resolver = new Resolver({ timeout: tryMs, tries })
      resolver.setServers(resolvers)
      const deadline = setTimeout(() => resolver.cancel(), lookupMs)
      try {
        for (const zone of namesAbove(domain)) {
          const servers = await serversOf(resolver, zone)
          if (servers === 'away') return err(away)
          if (servers.length > 0) return ok({ name: zone, servers })
        }
        return ok({ name: '.', servers: hints })
      } finally {
        clearTimeout(deadline)
      }
    },
    addressesOf: async (name) => {
      const found = await lookup(name)
      if (!found.ok) return []
      const all = [...(found.v4 ?? []), ...(found.v6 ?? [])]
      return all.slice(0, delegationLimits.addressesMax)
    },
  }
}

const away = {
  code: 'parent-unknown',
  why: 'cannot be looked up: no server of dns.resolvers answers',
} as const

/** Ancestors of the domain, without the root. */
function namesAbove(domain: string): readonly string[] {
  const labels = domain.split('.').slice(0, -1)
  return labels.slice(1).map((_label, i) => `${labels.slice(i + 1).join('.')}.`)
}

async function serversOf(resolver: Resolver, zone: string): Promise<ServerName[] | 'away'> {
  try {
    const names = await resolver.resolveNs(zone)
    const distinct = [...new Set(names.map((name) => `${name.toLowerCase().replace(/\.$/, '')}.`))]
    return distinct.slice(0, delegationLimits.serversMax).map((name) => ({ name, addresses: [] }))
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? ''
    return ['ENODATA', 'ENOTFOUND'].includes(code) ? [] : 'away'
  }
}
