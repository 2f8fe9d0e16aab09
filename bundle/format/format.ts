// Defines the file layout of a bundle, and the table of its columns: meaning, type and number of
// rows.
import { MemberExtraCell, NodeCell, ResponseCell, RolloutCell, WindowCell } from './cells.ts'
import { Network4Cell, Network6Cell, NetworkCell } from './client-ranges.ts'
import { HostnameCell } from './hostnames.ts'
import type { BundleCounts } from './manifest.ts'
import { RedirectCell } from '#bundle/redirects/redirect-table.ts'
import { RrsetCell } from './rrsets.ts'
import { EndpointCell, PolicyCell } from '#bundle/format/routing-cells.ts'

/**
 *     0   magic, 8 octets
 *     8   format version, u32
 *     12  length of the manifest, u32
 *     16  length of the content (all but the signature block), f64
 *     24  zero up to 64, then the manifest, zero up to a multiple of 64, then the sections
 *
 * All numbers are little-endian. The signature block follows the content:
 *
 *     0   magic, 8 octets; zero in a bundle that is not signed
 *     8   key id, 16 octets of ASCII
 *     24  Ed25519 signature over the manifest, 64 octets; zero up to 128
 */
export const layout = {
  magic: 'GSLBNDL1',
  formatVersion: 5,
  headerBytes: 64,
  /** End of the numbers in the header. */
  announcedBytes: 24,
  alignment: 64,
  signatureMagic: 'GSLBSIG1',
  signatureBytes: 128,
  /** End of the signature in its block. */
  signatureEnd: 88,
  signatureDomain: 'gslb/bundle/v1\0',
} as const

/** The array of a column, by the type of its elements. */
interface ArrayOf {
  readonly u8: Uint8Array
  readonly u16: Uint16Array
  readonly u32: Uint32Array
  readonly i32: Int32Array
}
export type ElementType = keyof ArrayOf
interface ArrayType {
  new (length: number): object
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): object
}
export const arrayTypes: Readonly<Record<ElementType, ArrayType>> = {
  u8: Uint8Array,
  u16: Uint16Array,
  u32: Uint32Array,
  i32: Int32Array,
}
export const elementBytes: Readonly<Record<ElementType, number>> = { u8: 1, u16: 2, u32: 4, i32: 4 }

/** The number of rows of a column: one per counted object, or any number of octets (`free`). */
type RowsOf = keyof BundleCounts | 'free'

interface SectionSpec<Element extends ElementType, Rows extends RowsOf> {
  readonly element: Element
  readonly rows: Rows
  /** Elements of one row. */
  readonly width: number
}

const of =
  <Element extends ElementType>(element: Element) =>
  <Rows extends RowsOf>(rows: Rows, width = 1): SectionSpec<Element, Rows> => ({
    element,
    rows,
    width,
  })
const [u8, u16, u32, i32] = [of('u8'), of('u16'), of('u32'), of('i32')]

/**
 * Every section known to this version, in file order; sections of later versions follow. Each is a
 * column. An index is a position in the columns of its table: nodes (owner names), zones, rrsets,
 * services, pools, members. `-1` means none. A name is a run of octets in `names`, folded to lower
 * case, root label included. A text is an index into the string table; text 0 is empty.
 */
export const sectionSpecs = Object.freeze({
  names: u8('free'),
  /**
   * Open addressing, linear probing: pairs of (hash, node index + 1); 0 in the second is a free
   * slot.
   */
  nameIndex: u32('free'),

  /** Cells of NodeCell. An apex belongs to the zone below the cut. */
  nodeRow: u32('nodes', NodeCell.Words),

  zoneNode: u32('zones'),
  /** The zone of this bundle that contains this apex as a child. */
  zoneParent: i32('zones'),

  /** Cells of RrsetCell; see rrsets.ts. */
  rrsetRow: u32('rrsets', RrsetCell.Words),
  /** Rrsets with equal rdata share it. */
  rrsetData: u8('free'),
  /** Nodes with static addresses that appear in rdata. */
  targetNode: u32('free'),

  /** Rows are sorted by uid, so that two bundles can be merged row by row. */
  serviceUid: u8('services', 16),
  /** The node with the service's name, whose row has pool, TTL and algorithm. */
  serviceNode: u32('services'),
  serviceName: u32('services'),
  serviceTenant: u32('services'),

  /** Rows are sorted by uid. */
  poolUid: u8('pools', 16),
  poolName: u32('pools'),
  poolTenant: u32('pools'),
  /**
   * Members of a pool are neighbours: `poolCount4` IPv4 members, then `poolCount6` IPv6 members.
   */
  poolMemberStart: u32('pools'),
  poolCount4: u32('pools'),
  poolCount6: u32('pools'),
  /** Text: canonical JSON of a HealthCheckModel; empty means no probes. */
  poolHealthCheck: u32('pools'),
  /** With fewer healthy members the pool answers nothing; 0: no limit. */
  poolMinHealthy: u32('pools'),

  memberUid: u8('members', 16),
  memberPool: u32('members'),
  /**
   * 4 octets a row: an IPv4 address; for IPv6 its row in `memberAddress6`, network order. For
   * members with a host name see hostnames.ts.
   */
  memberAddress: u8('members', 4),
  /** 16 octets a row. */
  memberAddress6: u8('free', 16),
  memberPort: u16('members'),
  memberWeight: u32('members'),
  /** 1 is preferred; 0 is unset and comes last. */
  memberPriority: u32('members'),
  /** Bits of MemberFlag. */
  memberFlags: u8('members'),
  memberName: u32('members'),
  memberRegion: u32('members'),
  /** See `placeCode`. */
  memberPlace: u32('members'),
  /** Row in `endpointVector`; 0: the settings do not mention its address. */
  memberEndpoint: u32('members'),
  /** Cells of MemberExtraCell; read by `memberExtraOf`. */
  memberExtra: u32('free', MemberExtraCell.Words),
  /** Cells of HostnameCell, by member. */
  hostnameRow: u32('free', HostnameCell.Words),
  hostnameNames: u8('free'),

  /** Row in `networkTable` + 1 of the pool's geo rules; 0: none. Their lists hold members. */
  poolNetworks: u32('pools'),
  /** Cells of NetworkCell. */
  networkTable: u32('free', NetworkCell.Words),
  /** Cells of Network4Cell. */
  network4: u32('free', Network4Cell.Words),
  /** Cells of Network6Cell. */
  network6: u32('free', Network6Cell.Words),
  /** Lists: a count, then values. Lists of map rules hold rows of `endpointVector`. */
  networkList: u32('free'),
  /** Cells of PolicyCell. */
  policyRow: u32('free', PolicyCell.Words),
  /** Cells of EndpointCell. */
  endpointVector: i32('free', EndpointCell.Words),
  /** One element, a text: canonical JSON of a RoutingText. */
  routingSettings: u32('free'),

  /** Cells of RolloutCell and WindowCell; see overlays.ts. */
  rolloutRow: u32('free', RolloutCell.Words),
  windowRow: u32('free', WindowCell.Words),

  /** Rows are sorted by uid. */
  responseUid: u8('responseRules', 16),
  /** Cells of ResponseCell. */
  responseRow: u32('responseRules', ResponseCell.Words),
  /** Triggers and targets of the rules, in the form of `names`. */
  responseNames: u8('free'),
  /** Like `nameIndex`, with rules instead of nodes; empty when there is no rule. */
  responseIndex: u32('free', 2),

  /** See RedirectColumns. */
  redirectUid: u8('redirects', 16),
  redirectRow: u32('redirects', RedirectCell.Words),
  redirectText: u8('free'),
  redirectIndex: u32('free', 2),

  /** Text i is `stringBytes` from `stringOffset[i]` to `stringOffset[i + 1]`, UTF-8. */
  stringOffset: u32('free'),
  stringBytes: u8('free'),
})

type Specs = typeof sectionSpecs
export type SectionName = keyof Specs

/** Columns as arrays. */
export type ColumnsOf<Name extends SectionName> = {
  readonly [N in Name]: ArrayOf[Specs[N]['element']]
}

/** The columns with one row per object of `Rows`. */
export type NameOfRows<Rows extends RowsOf> = {
  [N in SectionName]: Specs[N]['rows'] extends Rows ? N : never
}[SectionName]

export const sectionNames = Object.freeze(Object.keys(sectionSpecs)) as readonly SectionName[]

/**
 * Sections without octets, behind the others. A bundle has one where a node that does not know it
 * would answer wrongly: such a node refuses the bundle. `absentZones`: there are some.
 */
export const markNames = Object.freeze(['absentZones'] as const)
export type MarkName = (typeof markNames)[number]

export function alignUp(offset: number): number {
  return Math.ceil(offset / layout.alignment) * layout.alignment
}
