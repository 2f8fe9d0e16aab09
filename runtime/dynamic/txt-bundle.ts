// Encodes the TXT records of a node as a small bundle, whose names stand beside those of the main
// one.
import { encodeBundle } from '#bundle/encode/encode.ts'
import { findRrset, nodeFlags, zoneOfNode } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { NodeCell, NodeFlag } from '#bundle/format/cells.ts'
import { bundleLimits } from '#bundle/format/limits.ts'
import { plainRouting } from '#bundle/format/model.ts'
import type { RrsetModel, SoaModel } from '#bundle/format/model.ts'
import { loadBundle } from '#bundle/load/load.ts'
import { rrsetAt } from '#bundle/load/rrset-values.ts'
import { formatName } from '#dns/name.ts'
import { RrType } from '#dns/rrtype.ts'
import { assert } from '#lib/assert.ts'
import { findStored } from '#runtime/answer/lookup.ts'
import type { HandedBundle } from '#runtime/answer/serving-view.ts'
import type { TxtRrset } from './txt-snapshot.ts'

export interface TxtBundle {
  /** null: no name is in a zone of the main bundle. */
  readonly handed: HandedBundle | null
  /** Names that are in no zone of the main bundle. */
  readonly outside: number
  /** Records that do not fit into one message with the static ones of their name. */
  readonly leftOut: number
}

/**
 * Its zones are those zones of the main bundle in which there are records. A name with static TXT
 * records has these, too, so that an answer is one rrset with one TTL.
 */
export function encodeTxtBundle(records: readonly TxtRrset[], main: Bundle): TxtBundle {
  const zones = new Map<number, number>()
  const rrsets: RrsetModel[] = []
  let outside = 0
  let leftOut = 0
  for (const record of records) {
    const mainZone = enclosingZone(main, record.name)
    if (mainZone < 0) {
      outside++
      continue
    }
    const zone = zones.get(mainZone) ?? zones.size
    zones.set(mainZone, zone)
    const { ttlSeconds, rdata } = withStatic(record, main)
    const fitting = fittingOf(rdata)
    leftOut += rdata.length - fitting.length
    const rdataInOrder = fitting.toSorted((a, b) => Buffer.compare(a, b))
    const name = formatName(record.name)
    rrsets.push({ name, zone, type: RrType.TXT, ttlSeconds, rdata: rdataInOrder })
  }
  const names = Array.from(zones.keys(), (zone) => apexName(main, zone))
  const handed = rrsets.length === 0 ? null : encoded(names, rrsets)
  return { handed, outside, leftOut }
}

/** Denials are written with the SOA of the main bundle: the one here says nothing. */
const noSoa: SoaModel = Object.freeze({
  mname: '.',
  rname: '.',
  refreshSeconds: 0,
  retrySeconds: 0,
  expireSeconds: 0,
  minimumSeconds: 0,
  ttlSeconds: 0,
})

function encoded(zoneNames: readonly string[], rrsets: readonly RrsetModel[]): HandedBundle {
  const model = {
    commit: '',
    zones: zoneNames.map((name) => ({ name, soa: noSoa, nsTtlSeconds: 0, nameservers: [] })),
    pools: [],
    services: [],
    rrsets,
    routing: plainRouting,
    responseRules: [],
    rollouts: [],
    windows: [],
  }
  const { bytes, digest } = encodeBundle(model, () => -1)
  const loaded = loadBundle(bytes)
  assert(
    loaded.ok,
    `the loader takes a bundle of TXT records: ${loaded.ok ? '' : loaded.error.message}`,
  )
  return { bytes, digest }
}

/** The zone of the main bundle that a name is in, or -1. */
function enclosingZone(main: Bundle, name: Uint8Array): number {
  for (let at = 0; ; at += name[at]! + 1) {
    const node = findStored(main, name, at)
    // Whatever else is there belongs to the zone that the walk will come to.
    if (node >= 0 && (nodeFlags(main, node) & NodeFlag.Apex) !== 0) return zoneOfNode(main, node)
    if (name[at] === 0) return -1
  }
}

function apexName({ names, nodeRow, zoneNode }: Bundle, zone: number): string {
  return formatName(names, nodeRow[zoneNode[zone]! * NodeCell.Words + NodeCell.NameOffset])
}

interface Rrset {
  readonly ttlSeconds: number
  readonly rdata: readonly Uint8Array[]
}

/** With the static records of the same name, first. */
function withStatic({ name, ttlSeconds, values }: TxtRrset, main: Bundle): Rrset {
  const node = findStored(main, name, 0)
  const rrset = node < 0 ? -1 : findRrset(main, node, RrType.TXT)
  if (rrset < 0) return { ttlSeconds, rdata: values }
  const statics = rrsetAt(main, rrset, zoneOfNode(main, node))
  const hexOf = (octets: Uint8Array): string => Buffer.from(octets).toString('hex')
  const known = new Set(statics.rdata.map(hexOf))
  return {
    ttlSeconds: Math.min(ttlSeconds, statics.ttlSeconds),
    rdata: [...statics.rdata, ...values.filter((value) => !known.has(hexOf(value)))],
  }
}

/** Octets of a record besides its data, as the loader counts them. */
const recordHeadBytes = 12

/** As many of the first as an rrset can have. */
function fittingOf(rdata: readonly Uint8Array[]): readonly Uint8Array[] {
  let bytes = 0
  return rdata.filter(({ length }) => {
    const isFitting = bytes + length + recordHeadBytes <= bundleLimits.rrsetBytesMax
    if (isFitting) bytes += length + recordHeadBytes
    return isFitting
  })
}
