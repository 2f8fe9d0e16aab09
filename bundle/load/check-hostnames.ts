// Checks members with a host name: their slots, their aliases, and the services that use them.
import { serviceCell } from '#bundle/format/bundle.ts'
import type { BundleColumns } from '#bundle/format/bundle.ts'
import { MemberFlag, NodeCell, NodeFlag, nodeFlagShift } from '#bundle/format/cells.ts'
import { HostnameCell, numberAt, slotsOfHostname } from '#bundle/format/hostnames.ts'
import { bundleLimits } from '#bundle/format/limits.ts'
import type { Manifest } from '#bundle/format/manifest.ts'
import { firstPolicyCode, PolicyCell } from '#bundle/format/routing-cells.ts'
import { nameLimits } from '#dns/name.ts'

/** @returns a fault as half a sentence */
export function checkHostnames(c: BundleColumns): string | undefined {
  const { hostnameRow, memberFlags } = c
  const slots = bundleLimits.slotsPerHostname
  const kinds = MemberFlag.Resolved | MemberFlag.Alias
  const next = { [HostnameCell.First4]: 0, [HostnameCell.First6]: 0 }
  let counted = 0
  for (let at = 0; at < hostnameRow.length; at += HostnameCell.Words) {
    const hostname = at / HostnameCell.Words
    if (!isName(c, hostnameRow[at + HostnameCell.Name]!)) return `host name ${hostname} is no name`
    const pool = c.memberPool[hostnameRow[at + HostnameCell.First4]!]
    if (pool === undefined) return `host name ${hostname} has no pool`
    const first6 = c.poolMemberStart[pool]! + c.poolCount4[pool]!
    const ranges = [
      [HostnameCell.First4, c.poolMemberStart[pool]!, first6],
      [HostnameCell.First6, first6, first6 + c.poolCount6[pool]!],
    ] as const
    for (const [place, [cell, start, end]] of ranges.entries()) {
      const first = hostnameRow[at + cell]!
      const isInside = first >= start && first + slots <= end && first >= next[cell]
      if (!isInside) return `host name ${hostname} has no slots of its own`
      next[cell] = first + slots
      for (let i = 0; i < slots; i++) {
        if ((memberFlags[first + i]! & kinds) !== MemberFlag.Resolved) {
          return `member ${first + i} is no slot`
        }
        const word = numberAt(c.memberAddress, (first + i) * 4)
        const slot = place === 0 ? word : numberAt(c.memberAddress6, word * 16)
        if (slot !== hostname * slotsOfHostname + place * slots + i) {
          return `member ${first + i} has the slot of another`
        }
      }
    }
    counted += slotsOfHostname
  }
  return checkFlags(c, counted)
}

/** @param counted number of members known to be slots */
function checkFlags(c: BundleColumns, counted: number): string | undefined {
  let slots = 0
  for (let member = 0; member < c.memberFlags.length; member++) {
    const flags = c.memberFlags[member]!
    if (flags <= MemberFlag.Enabled) continue
    if (flags > 7) return `member ${member} has unknown flags`
    if ((flags & MemberFlag.Resolved) !== 0) slots++
    if ((flags & MemberFlag.Alias) === 0) continue
    const pool = c.memberPool[member]!
    const isIpv4 = member < c.poolMemberStart[pool]! + c.poolCount4[pool]!
    if (!isIpv4 || !isName(c, numberAt(c.memberAddress, member * 4))) {
      return `member ${member} is an alias of nothing`
    }
  }
  return slots === counted ? undefined : 'there are slots of no host name'
}

/** Checks a name with at least one label behind its length octet. */
function isName({ hostnameNames }: BundleColumns, offset: number): boolean {
  const length = hostnameNames[offset] ?? 0
  const end = offset + 1 + length
  if (length < 3 || end > hostnameNames.length) return false
  let at = offset + 1
  while (at < end && hostnameNames[at] !== 0 && hostnameNames[at]! <= nameLimits.labelBytesMax) {
    at += hostnameNames[at]! + 1
  }
  return at === end - 1 && hostnameNames[at] === 0
}

/** A service must answer an alias exactly when its pools hold nothing else. */
export function checkAliases(c: BundleColumns, { counts }: Manifest): string | undefined {
  const aliases = c.memberFlags.some((flags) => flags > MemberFlag.Enabled)
  // Without aliases only the flags of nodes are checked.
  for (let pool = 0; aliases && pool < counts.pools; pool++) {
    const first = c.poolMemberStart[pool]!
    const end = first + c.poolCount4[pool]! + c.poolCount6[pool]!
    for (let member = first + 1; member < end; member++) {
      if (((c.memberFlags[member]! ^ c.memberFlags[first]!) & MemberFlag.Alias) === 0) continue
      return `pool ${pool} has aliases beside addresses`
    }
  }
  for (let service = 0; service < counts.services; service++) {
    const flags = serviceCell(c, service, NodeCell.NameBytesAndFlags) >> nodeFlagShift
    const isAlias = (flags & NodeFlag.Alias) !== 0
    const pool = serviceCell(c, service, NodeCell.Pool) - 1
    const policy = serviceCell(c, service, NodeCell.Algorithm) - firstPolicyCode
    const fallback =
      policy < 0 ? -1 : c.policyRow[policy * PolicyCell.Words + PolicyCell.FallbackPool]! - 1
    for (const one of [pool, fallback]) {
      if (one < 0 || c.poolCount4[one]! + c.poolCount6[one]! === 0) continue
      const isPoolAlias = (c.memberFlags[c.poolMemberStart[one]!]! & MemberFlag.Alias) !== 0
      if (isPoolAlias !== isAlias) return `service ${service} has a pool of another kind of answer`
    }
  }
  return undefined
}
