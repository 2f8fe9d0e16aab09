// Encodes the records written at run time as a small bundle whose names stand beside those of the
// main one.
import { encodeBundle } from '#bundle/encode/encode.ts'
import {
  findRrset,
  nameOfZone,
  nodeFlags,
  rrsetCount,
  serviceOfNode,
  zoneOfNode,
} from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { NodeFlag } from '#bundle/format/cells.ts'
import { bundleLimits } from '#bundle/format/limits.ts'
import { plainRouting } from '#bundle/format/model.ts'
import type { RrsetModel, SoaModel } from '#bundle/format/model.ts'
import { loadBundle } from '#bundle/load/load.ts'
import { rrsetAt } from '#bundle/load/rrset-values.ts'
import { formatName } from '#dns/name.ts'
import { RrType } from '#dns/rrtype.ts'
import { assert } from '#lib/assert.ts'
import { findStored } from '#bundle/load/find-node.ts'
import type { HandedBundle } from '#answer/serving-view.ts'
import type { HiddenBy } from '#state/ports/dynamic-dns.ts'
import { hiddenBy } from './hidden-names.ts'
import type { WrittenName, WrittenRrset } from './written-records.ts'

/** What is not served, or only in part. */
export interface TextsLeft {
  /** Names that are in no zone of the main bundle. */
  readonly outside: number
  /** Records that do not fit into one message with the static ones of their name. */
  readonly leftOut: number
  /** Names at which others answer, which are aliases, or of which Git declares the same type. */
  readonly hidden: number
}

export interface WrittenBundle extends TextsLeft {
  /** null: no name is in a zone of the main bundle. */
  readonly handed: HandedBundle | null
  /** What was encoded. */
  readonly planned: readonly Planned[]
}

interface Planned {
  readonly name: Uint8Array
  /** Its apex. */
  readonly zone: string
  readonly type: number
  readonly ttlSeconds: number
  /** In canonical order. */
  readonly rdata: readonly Uint8Array[]
}

/**
 * Its zones are those zones of the main bundle in which there are records. A name with static TXT
 * records has these, too, so that an answer is one rrset with one TTL. Rrsets of other types that
 * the main bundle declares are left out, so that what is in both is TXT alone.
 *
 * @param last what it gave for the same records and another main bundle, which is mostly the same
 */
export function encodeWritten(
  records: readonly WrittenName[],
  main: Bundle,
  last?: WrittenBundle,
): WrittenBundle {
  const planned: Planned[] = []
  const apexes = new Map<number, string>()
  let outside = 0
  let leftOut = 0
  let hidden = 0
  for (const record of records) {
    const zone = enclosingZone(main, record.name)
    if (zone < 0) {
      outside++
      continue
    }
    const apex = apexes.get(zone) ?? nameOfZone(main, zone)
    apexes.set(zone, apex)
    const { name, rrsets } = record
    const node = findStored(main, name, 0)
    const shown = rrsets.filter(({ type }) => type === RrType.TXT || !isDeclared(main, node, type))
    if (shown.length < rrsets.length || hiddenBy(main, name) !== undefined) hidden++
    for (const rrset of shown) {
      const { ttlSeconds, rdata, tooMany } = withStatic(rrset, main, node)
      leftOut += tooMany
      planned.push({ name, zone: apex, type: rrset.type, ttlSeconds, rdata })
    }
  }
  const isSame = last !== undefined && isSamePlan(planned, last.planned)
  return { handed: isSame ? last.handed : encoded(planned), outside, leftOut, hidden, planned }
}

function isSamePlan(planned: readonly Planned[], others: readonly Planned[]): boolean {
  return (
    planned.length === others.length &&
    planned.every(({ name, zone, type, ttlSeconds, rdata }, i) => {
      const other = others[i]!
      const hasSameData =
        rdata === other.rdata || Buffer.concat(rdata).equals(Buffer.concat(other.rdata))
      const isSameName = name === other.name && zone === other.zone && type === other.type
      return isSameName && ttlSeconds === other.ttlSeconds && hasSameData
    })
  )
}

/** Denials are written with the SOA of the main bundle: the one here says nothing. */
const noSoa: SoaModel = Object.freeze({
  mname: '.',
  rname: '.',
  refreshSeconds: 0,
  retrySeconds: 0,
  expireSeconds: 0,
  minimumSeconds: 0,
  serialBase: 0,
  ttlSeconds: 0,
})

function encoded(planned: readonly Planned[]): HandedBundle | null {
  if (planned.length === 0) return null
  const zoneNames = [...new Set(planned.map(({ zone }) => zone))]
  const rowOf = new Map(zoneNames.map((name, row) => [name, row]))
  const model = {
    commit: '',
    zones: zoneNames.map((name) => ({ name, soa: noSoa, nsTtlSeconds: 0, nameservers: [] })),
    pools: [],
    services: [],
    rrsets: planned.map(({ name, zone, type, ttlSeconds, rdata }): RrsetModel => {
      return { name: formatName(name), zone: rowOf.get(zone)!, type, ttlSeconds, rdata }
    }),
    routing: plainRouting,
    responseRules: [],
    redirects: [],
    rollouts: [],
    windows: [],
  }
  const { bytes, digest } = encodeBundle(model, () => -1)
  const loaded = loadBundle(bytes)
  const fault = loaded.ok ? '' : loaded.error.message
  assert(loaded.ok, `the loader takes a bundle of written records: ${fault}`)
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

interface Rrset {
  readonly ttlSeconds: number
  readonly rdata: readonly Uint8Array[]
  readonly tooMany: number
}

/**
 * Whether the main bundle says what records of a type a name has, so that none are written there.
 *
 * @param node -1: it does not have the name
 */
export function isDeclared(main: Bundle, node: number, type: number): boolean {
  if (node < 0 || type !== RrType.CNAME) return isOfGit(main, node, type)
  // An alias is beside nothing else.
  return serviceOfNode(main, node) >= 0 || rrsetCount(main, node) > 0
}

/** Whether records of this very type come from the main bundle. */
export function isOfGit(main: Bundle, node: number, type: number): boolean {
  if (node < 0) return false
  if (findRrset(main, node, type) >= 0) return true
  if (type === RrType.CNAME) return (nodeFlags(main, node) & NodeFlag.Alias) !== 0
  const isAddress = type === RrType.A || type === RrType.AAAA
  return isAddress && serviceOfNode(main, node) >= 0
}

/** @returns why records of this type are not answered at the name, which is in lower case */
export function whyUnseen(main: Bundle, name: Uint8Array, type: number): HiddenBy | undefined {
  const by = hiddenBy(main, name)
  if (by !== undefined || type === RrType.TXT) return by
  return isDeclared(main, findStored(main, name, 0), type) ? 'declared' : undefined
}

/** With the static records of the same name: these come before others where not all fit. */
function withStatic({ type, ttlSeconds, values }: WrittenRrset, main: Bundle, node: number): Rrset {
  const rrset = node < 0 ? -1 : findRrset(main, node, type)
  // Alone they fit: what may be written at a name is limited.
  if (rrset < 0) return { ttlSeconds, rdata: values, tooMany: 0 }
  const statics = rrsetAt(main, rrset, zoneOfNode(main, node))
  const hexOf = (octets: Uint8Array): string => Buffer.from(octets).toString('hex')
  const known = new Set(statics.rdata.map(hexOf))
  const all = [...statics.rdata, ...values.filter((value) => !known.has(hexOf(value)))]
  const rdata = fittingOf(all)
  return {
    ttlSeconds: Math.min(ttlSeconds, statics.ttlSeconds),
    rdata: rdata.toSorted((a, b) => Buffer.compare(a, b)),
    tooMany: all.length - rdata.length,
  }
}

/** Octets of a record besides its data, as the loader counts them. */
const recordHeadBytes = 12

/** As many of the first as an rrset can have. */
function fittingOf(rdata: readonly Uint8Array[]): readonly Uint8Array[] {
  let bytes = 0
  const end = rdata.findIndex(({ length }) => {
    bytes += length + recordHeadBytes
    return bytes > bundleLimits.rrsetBytesMax
  })
  return end < 0 ? rdata : rdata.slice(0, end)
}
