// dns: the addresses of a name, or those of the names of its SRV records.
import { Resolver } from 'node:dns/promises'
import { parseName } from '#dns/name.ts'
import type { LookupResult } from '#inputs/resolve/lookup.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { DiscoveryKind, KindParts, Labels, RawTarget } from '#integrations/targets/kind.ts'
import { discoveryLimits } from '#integrations/targets/limits.ts'

interface SrvRecord {
  readonly name: string
  readonly port: number
  readonly priority: number
  readonly weight: number
}

/** A name that begins with an underscore has SRV records (RFC 2782). */
export const dns: DiscoveryKind = {
  name: 'dns',
  needs: [],
  service: 'required',
  faultOfService: (service) =>
    parseName(service).ok && !service.includes('/') ? undefined : `${service} is no name of DNS`,
  create:
    ({ timeoutMs }, { lookup, resolvers }) =>
    async ({ service, signal }) => {
      const name = service.endsWith('.') ? service : `${service}.`
      if (!name.startsWith('_')) {
        const found = addressesIn(name, await lookup(name))
        return found.ok ? ok({ targets: targetsOf(found.value, 0, new Map()), cursor: '' }) : found
      }
      const records = await srvRecords(name, resolvers, timeoutMs, signal)
      if (!records.ok) return records
      const targets = await targetsOfSrv(records.value, lookup)
      return targets.ok ? ok({ targets: targets.value, cursor: '' }) : targets
    },
}

async function srvRecords(
  name: string,
  resolvers: readonly string[],
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Result<readonly SrvRecord[], string>> {
  const resolver = new Resolver({ timeout: Math.ceil(timeoutMs / 2), tries: 2 })
  if (resolvers.length > 0) resolver.setServers(resolvers)
  const cancel = (): void => {
    resolver.cancel()
  }
  signal.addEventListener('abort', cancel, { once: true })
  try {
    return ok(await resolver.resolveSrv(name))
  } catch (error) {
    const { code = 'failed' } = error as NodeJS.ErrnoException
    return err(`the SRV records of ${name} cannot be looked up (${code})`)
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

/** The names that are looked up are those of the most preferred records. */
async function targetsOfSrv(
  records: readonly SrvRecord[],
  lookup: KindParts['lookup'],
): Promise<Result<readonly RawTarget[], string>> {
  const sorted = records.toSorted((a, b) => a.priority - b.priority || (a.name < b.name ? -1 : 1))
  const names = [...new Set(sorted.map((one) => one.name))].slice(0, discoveryLimits.srvNamesMax)
  const found = new Map<string, readonly string[]>()
  const answers = names.map(async (name) => {
    const absolute = name.endsWith('.') ? name : `${name}.`
    return addressesIn(absolute, await lookup(absolute))
  })
  for (const [i, answer] of (await Promise.all(answers)).entries()) {
    if (!answer.ok) return answer
    found.set(names[i]!, answer.value)
  }
  return ok(
    sorted.flatMap(({ name, port, priority, weight }) => {
      // RFC 2782: a weight of 0 is the least, and still takes part.
      const labels: Labels = new Map([
        ['weight', [String(Math.max(1, weight))]],
        ['priority', [String(priority)]],
        ['port', [String(port)]],
        ['target', [name.toLowerCase().replace(/\.$/, '')]],
      ])
      return targetsOf(found.get(name) ?? [], port, labels)
    }),
  )
}

/** A name without addresses is an empty list; if only one family answers, it is a failure. */
function addressesIn(name: string, found: LookupResult): Result<readonly string[], string> {
  if (!found.ok) {
    const isNone = found.fault === 'no-such-name' || found.fault === 'no-addresses'
    return isNone ? ok([]) : err(`${name} cannot be looked up (${found.fault})`)
  }
  const { v4, v6 } = found
  if (v4 !== undefined && v6 !== undefined) return ok([...v4, ...v6])
  return err(`${name} cannot be looked up (no answer for ${v4 === undefined ? 'A' : 'AAAA'})`)
}

function targetsOf(addresses: readonly string[], port: number, labels: Labels): RawTarget[] {
  return addresses.map((address) => ({ address, port, labels }))
}
