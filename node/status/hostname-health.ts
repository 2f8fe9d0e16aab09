// Combines the health of a host name's addresses into that of the member.
import { isDiscoveredName, nameForTenant } from '#bundle/discovered/from.ts'
import { unprobed } from '#ports/member-health.ts'
import type { AskedMember, KnownHealth, MemberHealthView } from '#ports/member-health.ts'
import type { AddressSource } from '#inputs/resolve/address-source.ts'

/** @param view of members with an address */
export function withHostnames(
  view: MemberHealthView,
  resolver: Pick<AddressSource, 'statusOf'>,
): MemberHealthView {
  return {
    ...view,
    of: (member) => {
      const { hostname = '', tenant = '' } = member
      if (hostname === '') return view.of(member)
      return known(view, member, resolver.statusOf(nameForTenant(hostname, tenant)))
    },
  }
}

function known(
  view: MemberHealthView,
  member: AskedMember,
  { v4, v6, resolvedAtMs, error }: ReturnType<AddressSource['statusOf']>,
): KnownHealth {
  const addresses = [...v4, ...v6].filter((address) => address !== '')
  const found = addresses.map((ipAddress) => {
    return { address: ipAddress, health: view.of({ ...member, ipAddress, hostname: '' }) }
  })
  const resolved = {
    addresses: found.map(({ address, health: { healthy } }) => ({ address, healthy })),
    atMs: resolvedAtMs,
    error,
  }
  const best = found.find(({ health }) => health.healthy) ?? found[0]
  if (best !== undefined) return { ...best.health, resolved }
  const isDiscovered = isDiscoveredName(member.hostname ?? '')
  const what = isDiscovered ? 'is not discovered' : 'does not resolve'
  // An alias without probes is never asked for.
  const wasAsked = error !== '' || resolvedAtMs > 0
  const why = error !== '' ? error : isDiscovered ? foundNobody : 'it has no address'
  return { ...unprobed(view.node, !wasAsked, wasAsked ? `${what}: ${why}` : ''), resolved }
}

const foundNobody =
  'its source finds no address; look what it lists, or take the entry out of the pool'
