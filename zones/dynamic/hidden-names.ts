// Tells names at which TXT records would never be answered: others answer there, it is an alias, or
// in no zone.
import { nodeFlags } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { NodeFlag } from '#bundle/format/cells.ts'
import { findStored } from '#bundle/load/find-node.ts'
import type { HiddenBy } from '#state/ports/dynamic-dns.ts'

/**
 * @param name in wire form and lower case
 * @returns the highest in its zone that hides it, as a server finds it (RFC 1034 section 4.3.2);
 * undefined: nothing does, or the name is in no zone of the bundle
 */
export function hiddenBy(main: Bundle, name: Uint8Array): HiddenBy | undefined {
  let by: HiddenBy | undefined
  for (let at = 0; ; at += name[at]! + 1) {
    const node = findStored(main, name, at)
    const flags = node < 0 ? 0 : nodeFlags(main, node)
    const isApex = (flags & NodeFlag.Apex) !== 0
    if (at === 0 && (flags & (NodeFlag.HasCname | NodeFlag.Alias)) !== 0) by = 'alias'
    if (!isApex && (flags & NodeFlag.Cut) !== 0) by = 'delegation'
    // A DNAME hides what is below it, and nothing at its own name. RFC 6672 section 2.4.
    if (at > 0 && (flags & NodeFlag.Dname) !== 0) by = 'dname'
    if (isApex) return by
    if (name[at] === 0) return undefined
  }
}

/** @param name in wire form and lower case */
export function isInZone(main: Bundle, name: Uint8Array): boolean {
  for (let at = 0; ; at += name[at]! + 1) {
    const node = findStored(main, name, at)
    if (node >= 0 && (nodeFlags(main, node) & NodeFlag.Apex) !== 0) return true
    if (name[at] === 0) return false
  }
}
