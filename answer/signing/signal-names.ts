// Finds signalling names (RFC 9615). They are below the names of name servers, and tell the keys of
// zones on these servers to parents that have no DS for such a zone yet.
import { findRrset, nodeFlags, wireNameOf, zoneOfNode } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { NodeFlag } from '#bundle/format/cells.ts'
import { findStored } from '#bundle/load/find-node.ts'
import { rrsetAt } from '#bundle/load/rrset-values.ts'
import { hasSignals } from '#bundle/load/zone-signing.ts'
import { foldName, hashName, hashNameAt, isAtOrBelow, labelOffsets } from '#dns/name.ts'
import { nameLimits } from '#dns/name.ts'
import { RrType } from '#dns/rrtype.ts'
import { emptySignal, noSignal, signalLabel } from './signer.ts'

const bootLabel = Buffer.from('\x07_dsboot', 'latin1')

/** A table is made at each change of configured records: 5 µs a name. */
export const signalNamesMax = 20_000

/** Words of a slot: hash, offset of the name plus 1, signal. */
const slotWords = 3
/** Words before the slots: the count of names, the count of slots. */
const headWords = 2

export interface PackedSignals {
  /** In shared memory: one for all threads. null: there are none. */
  readonly memory: SharedArrayBuffer | null
  /** How many names are not in the table, which is full. */
  readonly leftOut: number
}

/**
 * Makes the table of a bundle.
 *
 * @param hasKeys whether the keys of a zone are here, by its row
 */
export function packSignals(bundle: Bundle, hasKeys: (zone: number) => boolean): PackedSignals {
  const { names, leftOut } = namesIn(bundle, hasKeys)
  if (names.size === 0) return { memory: null, leftOut }
  const wires = [...names.keys()].map((text) => Buffer.from(text, 'latin1'))
  const octets = Buffer.concat(wires)
  const count = 2 ** Math.ceil(Math.log2(2 * wires.length + 1))
  const slotsAt = headWords * Int32Array.BYTES_PER_ELEMENT
  const octetsAt = slotsAt + count * slotWords * Int32Array.BYTES_PER_ELEMENT
  const memory = new SharedArrayBuffer(octetsAt + octets.length)
  new Int32Array(memory, 0, headWords).set([wires.length, count])
  new Uint8Array(memory, octetsAt).set(octets)
  const slots = new Int32Array(memory, slotsAt, count * slotWords)
  let offset = 0
  for (const [i, signal] of [...names.values()].entries()) {
    const hash = hashName(wires[i]!, bundle.nameSeed)
    let slot = hash & (count - 1)
    while (slots[slot * slotWords + 1] !== 0) slot = (slot + 1) & (count - 1)
    slots.set([hash, offset + 1, signal], slot * slotWords)
    offset += wires[i]!.length
  }
  return { memory, leftOut }
}

/** The table of the bundle that it was made of. */
export class SignalNames {
  readonly count: number
  readonly #octets: Uint8Array
  readonly #slots: Int32Array
  readonly #mask: number
  readonly #seed: number

  constructor(memory: SharedArrayBuffer, { nameSeed }: Pick<Bundle, 'nameSeed'>) {
    const [count, slots] = new Int32Array(memory, 0, headWords) as unknown as [number, number]
    const slotsAt = headWords * Int32Array.BYTES_PER_ELEMENT
    this.count = count
    this.#slots = new Int32Array(memory, slotsAt, slots * slotWords)
    this.#octets = new Uint8Array(memory, slotsAt + this.#slots.byteLength)
    this.#mask = slots - 1
    this.#seed = nameSeed
  }

  /** See `Signer.signalAt`. */
  at(octets: Uint8Array, start: number): number {
    const slots = this.#slots
    const hash = hashNameAt(octets, start, this.#seed)
    for (let slot = hash & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const from = slots[slot * slotWords + 1]! - 1
      if (from < 0) return noSignal
      if (slots[slot * slotWords] === hash && this.#isAt(from, octets, start)) {
        return slots[slot * slotWords + 2]!
      }
    }
  }

  /** A name holds its own end. */
  #isAt(from: number, octets: Uint8Array, start: number): boolean {
    const known = this.#octets
    let at = 0
    for (;;) {
      const length = known[from + at]!
      for (let i = 0; i <= length; i++) {
        if (known[from + at + i] !== octets[start + at + i]) return false
      }
      if (length === 0) return true
      at += length + 1
    }
  }
}

/** @returns by name in lower case, as latin1: a row of a zone, or `emptySignal` */
function namesIn(
  bundle: Bundle,
  hasKeys: (zone: number) => boolean,
): { readonly names: ReadonlyMap<string, number>; readonly leftOut: number } {
  const names = new Map<string, number>()
  const zones = Array.from({ length: bundle.counts.zones }, (_, zone) => zone)
  const tells = new Set(zones.filter((zone) => hasSignals(bundle, zone) && hasKeys(zone)))
  let leftOut = 0
  for (const zone of tells.size === 0 ? [] : zones.filter(hasKeys)) {
    const apex = wireNameOf(bundle, bundle.zoneNode[zone]!)
    for (const server of serversOf(bundle, zone)) {
      // What is in the zone itself proves nothing of it: section 4.2.
      if (isAtOrBelow(server, apex) || !tells.has(zoneAt(bundle, server))) continue
      const wire = Buffer.concat([bootLabel, apex.subarray(0, -1), signalLabel, server])
      if (wire.length > nameLimits.bytesMax) continue
      if (names.size >= signalNamesMax) leftOut++
      else addSignal(names, wire, zone, wire.length - server.length - signalLabel.length)
    }
  }
  return { names, leftOut }
}

/** @param top where `_signal` begins in the name */
function addSignal(names: Map<string, number>, wire: Buffer, zone: number, top: number): void {
  names.set(wire.toString('latin1'), zone)
  for (const at of labelOffsets(wire).filter((offset) => offset > 0 && offset <= top)) {
    const above = wire.toString('latin1', at)
    if (!names.has(above)) names.set(above, emptySignal)
  }
}

function serversOf(bundle: Bundle, zone: number): readonly Uint8Array[] {
  const rrset = findRrset(bundle, bundle.zoneNode[zone]!, RrType.NS)
  return rrset < 0 ? [] : rrsetAt(bundle, rrset, zone).rdata.map(foldName)
}

/** @returns the zone that answers for a name that there is; -1: none */
function zoneAt(bundle: Bundle, name: Uint8Array): number {
  const node = findStored(bundle, name, 0)
  if (node < 0) return -1
  const flags = nodeFlags(bundle, node)
  const isApex = (flags & NodeFlag.Apex) !== 0
  const isElsewhere = (flags & (NodeFlag.Cut | NodeFlag.Below | NodeFlag.Dname)) !== 0 && !isApex
  return isElsewhere || (flags & NodeFlag.Dname) !== 0 ? -1 : zoneOfNode(bundle, node)
}
