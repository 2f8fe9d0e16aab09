// Checks whether the DNS of the world delegates our zones to the servers that the zones name.
import { Resolver } from 'node:dns/promises'
import { bad, good, unknown, warning } from './check.ts'
import type { Check, Finding, CheckedNode, StoredZone } from './check.ts'

const zonesMax = 10

export const delegation: Check = {
  name: 'delegation',
  async look(node) {
    const zones = node.zones.slice(0, zonesMax)
    if (zones.length === 0)
      return [unknown('there is no bundle yet whose zones could be looked up')]
    const more = node.zones.length - zones.length
    const found = await Promise.all(zones.map((zone) => lookUp(zone, node)))
    return more > 0 ? [...found, unknown(`${more} more zones were not looked up`)] : found
  },
}

/** Codes of Node for an empty answer of the resolver. */
const absent: readonly string[] = ['ENOTFOUND', 'ENODATA']

async function lookUp(zone: StoredZone, { settings, patienceMs }: CheckedNode): Promise<Finding> {
  const resolver = new Resolver({ timeout: patienceMs, tries: 1 })
  const { resolvers } = settings.dns
  if (resolvers.length > 0) resolver.setServers([...resolvers])
  const name = zone.name.replace(/\.$/, '')
  try {
    const names = await resolver.resolveNs(name)
    return compared(
      zone,
      names.map((one) => `${one.toLowerCase().replace(/\.$/, '')}.`),
    )
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (!absent.includes(code)) return unknown(`${zone.name}: no resolver has answered (${code})`)
    const todo = `if the world is to ask: have its parent name ${zone.nameservers.join(' ')}`
    return warning(`${zone.name} is not delegated: nobody finds it`, todo)
  }
}

function compared({ name, nameservers }: StoredZone, found: readonly string[]): Finding {
  const there = new Set(found)
  const missing = nameservers.filter((one) => !there.has(one))
  const extra = found.filter((one) => !nameservers.includes(one))
  const said = `${name} is delegated to ${found.toSorted().join(' ')}`
  if (missing.length === 0 && extra.length === 0) return good(said)
  const todo = `its parent and its NS records must agree; the zone has ${nameservers.join(' ')}`
  return extra.length === found.length ? bad(said, todo) : warning(said, todo)
}
