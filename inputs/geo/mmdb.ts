// Opens a MaxMind DB file: checks its metadata, and locates tree and data.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { geoLimits } from './limits.ts'
import { MmdbData } from './mmdb-data.ts'
import type { MmdbMap } from './mmdb-data.ts'
import type { MmdbTree } from './mmdb-tree.ts'

export interface Mmdb {
  /** What its maker calls it, such as `GeoLite2-City`; at most 100 characters. */
  readonly type: string
  /** When it was built, in seconds since the Unix epoch. */
  readonly buildEpoch: number
  readonly tree: MmdbTree
  readonly data: MmdbData
}

/** Precedes the metadata; the last one in the file counts. */
const marker = Buffer.from('abcdef4d61784d696e642e636f6d', 'hex')
const separatorBytes = 16
const typeCharsMax = 100

/** @returns an error as the end of a sentence that begins with "the database" */
export function openMmdb(bytes: Buffer): Result<Mmdb, string> {
  const tailStart = Math.max(0, bytes.length - geoLimits.metadataBytesMax)
  const found = bytes.subarray(tailStart).lastIndexOf(marker)
  if (found === -1) {
    return err('is not a MaxMind DB file, or its end is missing: it has no metadata')
  }
  const dataEnd = tailStart + found
  const start = dataEnd + marker.length
  const section = new MmdbData(bytes, start, bytes.length)
  const metadata = section.read(0, 'all')
  if (section.fault !== undefined) return err(`has broken metadata: it ${section.fault}`)
  if (!(metadata instanceof Map)) return err('has metadata that is not a map')
  return layOut(bytes, dataEnd, metadata as MmdbMap)
}

function layOut(bytes: Buffer, dataEnd: number, metadata: MmdbMap): Result<Mmdb, string> {
  const number = (key: string): number => {
    const value = metadata.get(key)
    return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : -1
  }
  const version = number('binary_format_major_version')
  if (version !== 2) {
    return err(`has format version ${version === -1 ? 'unknown' : version}; gslbd reads version 2`)
  }
  const recordSize = number('record_size')
  if (recordSize !== 24 && recordSize !== 28 && recordSize !== 32) {
    return err(`has a record_size that is not 24, 28 or 32`)
  }
  const ipVersion = number('ip_version')
  if (ipVersion !== 4 && ipVersion !== 6) return err('has an ip_version that is not 4 or 6')
  const nodeCount = number('node_count')
  if (nodeCount < 1) return err('has a node_count that is not a positive number')
  const type = metadata.get('database_type')
  if (typeof type !== 'string') return err('has no database_type')
  const dataStart = (nodeCount * recordSize) / 4 + separatorBytes
  if (dataStart > dataEnd) {
    return err('is shorter than the search tree that its metadata says')
  }
  // Sixteen zeros, the only place that verifies node_count.
  if (bytes.subarray(dataStart - separatorBytes, dataStart).some((octet) => octet !== 0)) {
    return err('has metadata that does not fit its search tree')
  }
  const tree = { bytes, nodeCount, recordSize, ipVersion, dataBytes: dataEnd - dataStart } as const
  const data = new MmdbData(bytes, dataStart, dataEnd)
  const buildEpoch = Math.max(0, number('build_epoch'))
  return ok({ type: type.slice(0, typeCharsMax), buildEpoch, tree, data })
}
