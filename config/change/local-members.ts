// Refuses members of tenants at addresses that only the nodes themselves can reach.
import { isLocalText } from '#compiler/values/addresses.ts'
import type { Draft } from '#config/draft.ts'
import type { ConfigEntry } from '#config/entry.ts'
import { fault } from '#config/fault.ts'
import type { Fault } from '#config/fault.ts'
import { defaultTenant } from '#schemas/objects/tenant.ts'

/**
 * Probes of a member send what its pool says, and tell what came back: a tenant would read by them
 * what listens on a node alone, such as the metadata of a cloud.
 *
 * @returns undefined: no pool of a tenant has such a member that it had not before
 */
export function localMember(draft: Draft): Fault | undefined {
  const { before, now } = draft.changesOfRequest()
  for (const entry of now) {
    if (entry.tenant === defaultTenant) continue
    const addresses = addressesOf(entry)
    if (addresses.length === 0) continue
    const had = new Set(before.flatMap((one) => (one.uid === entry.uid ? addressesOf(one) : [])))
    const local = addresses.find((address) => !had.has(address) && isLocalText(address))
    if (local !== undefined) return fault('forbidden', `ipAddress: ${local} ${reason}`)
  }
  return undefined
}

const reason =
  'is of the node itself, its link or its cloud, which only a system administrator gives a tenant'

function addressesOf(entry: ConfigEntry): readonly string[] {
  if (entry.kind !== 'Pool') return []
  const { members } = (entry as ConfigEntry<'Pool'>).object.spec
  return members.flatMap(({ ipAddress = '' }) => (ipAddress === '' ? [] : [ipAddress]))
}
