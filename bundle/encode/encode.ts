// Encodes a resolved configuration as a bundle. The same model gives the same octets.
import { hash } from 'node:crypto'
import { assert } from '#lib/assert.ts'
import { version } from '#lib/version.ts'
import type { BundleColumns } from '#bundle/format/bundle.ts'
import { canonicalJson } from '#lib/text/canonical-json.ts'
import type { Json } from '#lib/text/canonical-json.ts'
import { NodeCell, NodeFlag, nodeFlagShift } from '#bundle/format/cells.ts'
import { bundleDigest } from '#bundle/signature/digest.ts'
import { alignUp, elementBytes, layout, sectionNames, sectionSpecs } from '#bundle/format/format.ts'
import type { MarkName } from '#bundle/format/format.ts'
import type { BundleCounts, Manifest } from '#bundle/format/manifest.ts'
import type { BundleModel, ServiceModel } from '#bundle/format/model.ts'
import { deepestName } from '#bundle/format/name-depth.ts'
import { RrsetCell } from '#bundle/format/rrsets.ts'
import { overlayColumns } from './overlay-columns.ts'
import { PoolMemory } from './pool-memory.ts'
import { EndpointTable, isPlain, PolicyTable, routingText } from './routing-columns.ts'
import { RedirectMemory } from './redirect-columns.ts'
import { ResponseColumns } from './response-columns.ts'
import { RowMemory } from './rows.ts'
import { StringMemory, StringTable } from '#bundle/format/string-table.ts'
import type { AskedTexts } from '#bundle/format/string-table.ts'
import { ZoneMemory } from './zone-columns.ts'

export interface EncodedBundle {
  /** The whole file, not signed, in a SharedArrayBuffer. */
  readonly bytes: Uint8Array
  /** The result of `bundleDigest`. */
  readonly digest: string
  readonly manifest: Manifest
}

/**
 * Intermediate results of one encoding, reused by the next one of nearly the same model. The octets
 * do not depend on it. An encoded model must not be changed.
 */
export class EncoderMemory {
  readonly strings = new StringMemory()
  readonly pools = new PoolMemory()
  readonly services = new RowMemory<ServiceModel, ServiceModel>()
  readonly zones = new ZoneMemory()
  readonly redirects = new RedirectMemory()
  serviceNames: ServiceNames | undefined
  /** Buffer for the rows of names, the largest column: they are copied into each bundle. */
  nodeRow = new Uint32Array(0)
  /** Its sections must not change. */
  last: EncodedBundle | undefined
}

/** The names of services in this order, as numbers of texts. */
interface ServiceNames {
  readonly order: readonly ServiceModel[]
  readonly numbers: Uint32Array
  readonly asked: AskedTexts
}

/**
 * @param codeOf maps an algorithm to the `Algorithm` of its cell, -1 when it needs a policy; the
 * compiler has checked the names
 */
export function encodeBundle(
  model: BundleModel,
  codeOf: (algorithm: string) => number,
  memory = new EncoderMemory(),
): EncodedBundle {
  const strings = new StringTable(memory.strings)
  const endpoints = new EndpointTable(model.routing)
  const pools = memory.pools.tables(model, endpoints, strings)
  const policies = new PolicyTable(strings, pools.indexOfPool)
  const services = memory.services.rowsOf(model.services, (service) => service)
  const order = services.rows
  const responses = new ResponseColumns(model.responseRules, strings)
  const isGoodSeed = (seed: number): boolean => responses.indexUnder(seed) !== undefined
  const zones = memory.zones.columns(model, order, isGoodSeed)
  const nodeRow = copied(zones.columns.nodeRow, memory)
  for (let i = 0; i < order.length; i++) {
    const service = order[i]!
    const poolRow = service.pool < 0 ? -1 : pools.indexOfPool[service.pool]!
    const row = zones.serviceNode[i]! * NodeCell.Words
    nodeRow[row + NodeCell.Pool] = poolRow + 1
    nodeRow[row + NodeCell.TtlSeconds] = service.ttlSeconds
    if (model.pools[service.pool]?.answer === 'cname') {
      nodeRow[row + NodeCell.NameBytesAndFlags]! |= NodeFlag.Alias << nodeFlagShift
    }
    const hasGeoRules = poolRow >= 0 && pools.columns.poolNetworks[poolRow]! > 0
    const code = isPlain(service, hasGeoRules) ? codeOf(service.algorithm) : -1
    nodeRow[row + NodeCell.Algorithm] = code >= 0 ? code : policies.codeOf(service)
  }
  const columns: BundleColumns = {
    ...zones.columns,
    nodeRow,
    serviceNode: zones.serviceNode,
    serviceUid: services.uids,
    ...serviceTexts(order, strings, memory),
    ...pools.columns,
    ...pools.ranges,
    policyRow: policies.rows(),
    endpointVector: endpoints.vectors(),
    ...overlayColumns(model, pools, strings),
    routingSettings: Uint32Array.of(strings.add(routingText(model.routing, endpoints))),
    ...responses.columns(zones.nameSeed),
    ...memory.redirects.columns(model.redirects),
    ...strings.columns(),
  }
  const counts: BundleCounts = {
    nodes: columns.nodeRow.length / NodeCell.Words,
    zones: columns.zoneNode.length,
    rrsets: columns.rrsetRow.length / RrsetCell.Words,
    services: columns.serviceName.length,
    pools: columns.poolName.length,
    members: columns.memberPool.length,
    responseRules: model.responseRules.length,
    redirects: model.redirects.length,
  }
  const { commit, routing } = model
  const hasAbsent = (routing.absentZones ?? []).length > 0
  const marks: readonly MarkName[] = hasAbsent ? ['absentZones'] : []
  const head = { commit, counts, nameSeed: zones.nameSeed, nameLabelsMax: deepestName(columns) }
  return (memory.last = assemble(columns, head, marks, memory.last))
}

/** A new column for each write would stay on the heap until the next long collection. */
function copied(rows: Uint32Array, memory: EncoderMemory): Uint32Array {
  if (memory.nodeRow.length !== rows.length) memory.nodeRow = new Uint32Array(rows.length)
  memory.nodeRow.set(rows)
  return memory.nodeRow
}

function serviceTexts(
  order: readonly ServiceModel[],
  strings: StringTable,
  memory: Pick<EncoderMemory, 'serviceNames'>,
) {
  const serviceName = new Uint32Array(order.length)
  const serviceTenant = new Uint32Array(order.length)
  // All names are requested first, because texts are numbered in the order of requests.
  const from = strings.askedCount
  const last = memory.serviceNames
  const known = last !== undefined && strings.follows(last.asked) ? last : noNames
  let at = 0
  for (let i = 0; i < order.length; i++) {
    const service = order[i]!
    while (known.order[at] !== service && isBefore(known.order[at], service)) at++
    // Stepped over: comparing identifiers of all services costs 2 ms a write.
    if (known.order[at] === service) serviceName[i] = strings.again(known.numbers[at++]!)
    else serviceName[i] = strings.add(service.name)
  }
  memory.serviceNames = { order, numbers: serviceName, asked: strings.askedSince(from) }
  for (let i = 0; i < order.length; i++) serviceTenant[i] = strings.add(order[i]!.tenant)
  return { serviceName, serviceTenant }
}

const noNames = { order: [], numbers: new Uint32Array(0) } as const

const isBefore = (other: ServiceModel | undefined, { uid }: ServiceModel): boolean =>
  other !== undefined && other.uid < uid

type Head = Pick<Manifest, 'commit' | 'counts' | 'nameSeed' | 'nameLabelsMax'>

/** @param last sections equal to its own keep their digests */
function assemble(
  columns: BundleColumns,
  head: Head,
  marks: readonly MarkName[],
  last: EncodedBundle | undefined,
): EncodedBundle {
  const sizes = sectionNames.map((name) => columns[name].byteLength)
  const offsets: number[] = []
  let sectionsBytes = 0
  for (const size of sizes) {
    offsets.push(sectionsBytes)
    sectionsBytes += alignUp(size)
  }
  const octets = sectionNames.map((name) => {
    const { buffer, byteOffset, byteLength, BYTES_PER_ELEMENT } = columns[name]
    const isTyped = BYTES_PER_ELEMENT === elementBytes[sectionSpecs[name].element]
    assert(isTyped, `${name} has its type`)
    return new Uint8Array(buffer, byteOffset, byteLength)
  })
  const manifest: Manifest = {
    format: layout.formatVersion,
    compiler: version,
    ...head,
    sections: [
      ...sectionNames.map((name, i) => {
        const sha256 = digestIn(last, i, octets[i]!) ?? hash('sha256', octets[i]!)
        return { name, offset: offsets[i]!, bytes: sizes[i]!, sha256 }
      }),
      ...marks.map((name) => ({
        ...{ name, offset: sectionsBytes, bytes: 0, sha256: hash('sha256', '') },
        mustUnderstand: true,
      })),
    ],
  }
  const text = Buffer.from(canonicalJson(manifest as unknown as Json))
  const manifestBytes = text.length
  const base = alignUp(layout.headerBytes + manifestBytes)
  const contentBytes = base + sectionsBytes
  const bytes = new Uint8Array(new SharedArrayBuffer(contentBytes + layout.signatureBytes))
  for (let i = 0; i < octets.length; i++) bytes.set(octets[i]!, base + offsets[i]!)
  bytes.set(text, layout.headerBytes)
  const header = new DataView(bytes.buffer, 0, layout.headerBytes)
  bytes.set(Buffer.from(layout.magic), 0)
  header.setUint32(8, layout.formatVersion, true)
  header.setUint32(12, manifestBytes, true)
  header.setFloat64(16, contentBytes, true)
  return { bytes, digest: bundleDigest(bytes), manifest }
}

/**
 * Returns the digest of a section of `last` with the same octets: comparing costs less than
 * hashing.
 */
function digestIn(
  last: EncodedBundle | undefined,
  section: number,
  octets: Uint8Array,
): string | undefined {
  if (last === undefined) return undefined
  const { bytes, manifest } = last
  const { offset, bytes: size, sha256 } = manifest.sections[section]!
  const manifestBytes = new DataView(bytes.buffer, 0, layout.headerBytes).getUint32(12, true)
  const start = alignUp(layout.headerBytes + manifestBytes) + offset
  return Buffer.compare(bytes.subarray(start, start + size), octets) === 0 ? sha256 : undefined
}
