// Manages the addresses of host names: which each slot has now, and how the one writer changes
// them.
import { nameForTenant } from '#bundle/discovered/from.ts'
import { addressOfMember, textOf } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import {
  HostnameCell,
  hostnameText,
  isDiscovered,
  isResolved,
  partsAround,
  slotMembers,
  slotOfMember,
} from '#bundle/format/hostnames.ts'
import { bundleLimits } from '#bundle/format/limits.ts'
import { formatAddress, parseAddress } from '#dns/address.ts'
import { assert } from '#lib/assert.ts'
import { MemberOut, slotOffset } from './state.ts'
import type { RoutingState } from './state.ts'

/** By slot of a family; '': it has none. */
export interface SlotAddresses {
  readonly v4: readonly string[]
  readonly v6: readonly string[]
  /** What discovered addresses weigh against each other. An address that is not there has 1. */
  readonly weights?: ReadonlyMap<string, number>
}

/**
 * Gives the slots of a host name their addresses. Lists are not rebuilt.
 *
 * @returns true when any slot has another address than before, or another weight
 */
export function fillSlots(
  bundle: Bundle,
  state: RoutingState,
  hostname: number,
  { v4, v6, weights }: SlotAddresses,
): boolean {
  const { slotsPerHostname } = bundleLimits
  const own = hostname - partsAround(bundle, hostname).first
  const hasWeights = isDiscovered(bundle, hostname)
  let isChanged = false
  for (const [place, member] of [...slotMembers(bundle, hostname)].entries()) {
    const isIpv4 = place < slotsPerHostname
    const inFamily = own * slotsPerHostname + (isIpv4 ? place : place - slotsPerHostname)
    const address = (isIpv4 ? v4[inFamily] : v6[inFamily]) ?? ''
    // A member without weight gets nothing, whatever its addresses weigh against each other.
    if (hasWeights && bundle.memberWeight[member] !== 0) {
      const weight = weights?.get(address) ?? 1
      isChanged ||= state.memberWeight[member] !== weight
      state.memberWeight[member] = weight
    }
    if (address === slotAddress(bundle, state, member)) continue
    isChanged = true
    if (address === '') state.memberOut[member]! |= MemberOut.Unresolved
    else {
      write(state, slotOfMember(bundle, member), address, isIpv4)
      state.memberOut[member]! &= ~MemberOut.Unresolved
    }
  }
  return isChanged
}

/** Writes into the copy that nobody reads, which then becomes the current one. */
function write(state: RoutingState, slot: number, address: string, isIpv4: boolean): void {
  const octets = parseAddress(address)
  assert(octets.ok && (octets.value.length === 4) === isIpv4, 'a slot has an address of its family')
  const version = Atomics.load(state.slotVersion, slot)
  state.slotOctets.set(octets.value, slotOffset(slot, version + 1))
  Atomics.store(state.slotVersion, slot, version + 1)
}

/** The current address of a member with the flag `Resolved`; '': none. */
export function slotAddress(bundle: Bundle, state: RoutingState, member: number): string {
  if ((state.memberOut[member]! & MemberOut.Unresolved) !== 0) return ''
  const slot = slotOfMember(bundle, member)
  const from = slotOffset(slot, state.slotVersion[slot]!)
  const pool = bundle.memberPool[member]!
  const isIpv4 = member < bundle.poolMemberStart[pool]! + bundle.poolCount4[pool]!
  return formatAddress(state.slotOctets.subarray(from, from + (isIpv4 ? 4 : 16)))
}

/** The address that a member answers now; its host name where that is an alias, or not resolved. */
export function addressNow(bundle: Bundle, state: RoutingState, member: number): string {
  if (!bundle.hasHostnames || !isResolved(bundle, member)) return addressOfMember(bundle, member)
  return slotAddress(bundle, state, member) || addressOfMember(bundle, member)
}

/** What is looked up for each row of `hostnameRow`: host names, and sources with the tenant. */
export function resolvedHostnames(bundle: Bundle): readonly string[] {
  const count = bundle.hostnameRow.length / HostnameCell.Words
  return Array.from({ length: count }, (_, row) => {
    const pool = poolOfHostname(bundle, row)
    return nameForTenant(hostnameText(bundle, row), textOf(bundle, bundle.poolTenant[pool]!))
  })
}

export function poolOfHostname({ hostnameRow, memberPool }: Bundle, row: number): number {
  return memberPool[hostnameRow[row * HostnameCell.Words + HostnameCell.First4]!]!
}
