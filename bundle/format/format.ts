// The file layout of a bundle: header, manifest, 64-byte-aligned sections, signature block.
import type { BundleColumns } from './bundle.ts'
import { Network4Cell, Network6Cell, NetworkCell } from './client-ranges.ts'
import { HostnameCell } from './hostnames.ts'
import type { BundleCounts } from './manifest.ts'
import { MemberExtraCell } from './member-extra.ts'
import { RolloutCell, WindowCell } from './overlays.ts'
import { ResponseCell } from './response-rules.ts'
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

export type ElementType = 'u8' | 'u16' | 'u32' | 'i32'
export const elementBytes: Readonly<Record<ElementType, number>> = { u8: 1, u16: 2, u32: 4, i32: 4 }

/** How many rows a column has: one per thing counted, or as many octets as it needs (`free`). */
export type RowsOf = keyof BundleCounts | 'free'

export interface SectionSpec {
  readonly element: ElementType
  readonly rows: RowsOf
  /** Elements of one row. */
  readonly width: number
}

const u8 = (rows: RowsOf, width = 1): SectionSpec => ({ element: 'u8', rows, width })
const u16 = (rows: RowsOf): SectionSpec => ({ element: 'u16', rows, width: 1 })
const u32 = (rows: RowsOf, width = 1): SectionSpec => ({ element: 'u32', rows, width })
const i32 = (rows: RowsOf): SectionSpec => ({ element: 'i32', rows, width: 1 })

/**
 * Every section that this version knows, in file order; sections of later versions stand behind
 * them. What a column means is said in bundle.ts.
 */
export const sectionSpecs: Readonly<Record<keyof BundleColumns, SectionSpec>> = Object.freeze({
  names: u8('free'),
  nameIndex: u32('free'),
  nodeRow: { element: 'u32', rows: 'nodes', width: 16 },
  zoneNode: u32('zones'),
  zoneParent: i32('zones'),
  rrsetRow: { element: 'u32', rows: 'rrsets', width: RrsetCell.Words },
  rrsetData: u8('free'),
  targetNode: u32('free'),
  serviceUid: u8('services', 16),
  serviceNode: u32('services'),
  serviceName: u32('services'),
  serviceTenant: u32('services'),
  poolUid: u8('pools', 16),
  poolName: u32('pools'),
  poolTenant: u32('pools'),
  poolMemberStart: u32('pools'),
  poolCount4: u32('pools'),
  poolCount6: u32('pools'),
  poolHealthCheck: u32('pools'),
  poolMinHealthy: u32('pools'),
  memberUid: u8('members', 16),
  memberPool: u32('members'),
  memberAddress: u8('members', 4),
  memberAddress6: u8('free', 16),
  memberPort: u16('members'),
  memberWeight: u32('members'),
  memberPriority: u32('members'),
  memberFlags: u8('members'),
  memberName: u32('members'),
  memberRegion: u32('members'),
  memberPlace: u32('members'),
  memberEndpoint: u32('members'),
  memberExtra: { element: 'u32', rows: 'free', width: MemberExtraCell.Words },
  hostnameRow: { element: 'u32', rows: 'free', width: HostnameCell.Words },
  hostnameNames: u8('free'),
  poolNetworks: u32('pools'),
  networkTable: { element: 'u32', rows: 'free', width: NetworkCell.Words },
  network4: { element: 'u32', rows: 'free', width: Network4Cell.Words },
  network6: { element: 'u32', rows: 'free', width: Network6Cell.Words },
  networkList: u32('free'),
  policyRow: { element: 'u32', rows: 'free', width: PolicyCell.Words },
  endpointVector: { element: 'i32', rows: 'free', width: EndpointCell.Words },
  routingSettings: u32('free'),
  rolloutRow: { element: 'u32', rows: 'free', width: RolloutCell.Words },
  windowRow: { element: 'u32', rows: 'free', width: WindowCell.Words },
  responseUid: u8('responseRules', 16),
  responseRow: { element: 'u32', rows: 'responseRules', width: ResponseCell.Words },
  responseNames: u8('free'),
  responseIndex: u32('free', 2),
  redirectUid: u8('redirects', 16),
  redirectRow: { element: 'u32', rows: 'redirects', width: RedirectCell.Words },
  redirectText: u8('free'),
  redirectIndex: u32('free', 2),
  stringOffset: u32('free'),
  stringBytes: u8('free'),
})

export const sectionNames = Object.freeze(
  Object.keys(sectionSpecs),
) as readonly (keyof BundleColumns)[]

export function alignUp(offset: number): number {
  return Math.ceil(offset / layout.alignment) * layout.alignment
}
