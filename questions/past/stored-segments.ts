// Selects the segments of a copied journal that an instant needs, since reading all would be slow.
import { copyLimits, journalLimits } from '#journal/format/limits.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { Journals, StoredSegment } from '#state/ports/journals.ts'

/** How long the last record of a segment may hold, with a clock that runs slow. */
const afterMs = journalLimits.aliveMs + 4 * journalLimits.flushMs

/**
 * Selects segments, in order: those that may cover the instant, the one after each, and the one in
 * which the active bundle of the time began. If none covers it, those around it.
 *
 * @param segments the newest first
 */
function segmentsFor(segments: readonly StoredSegment[], atMs: number): readonly StoredSegment[] {
  const wanted = new Set<StoredSegment>()
  const take = (one: StoredSegment | undefined): void => {
    if (one === undefined || wanted.size >= copyLimits.readMax) return
    wanted.add(one)
    const i = segments.indexOf(one)
    const following = segments[i - 1]
    if (following?.run === one.run) wanted.add(following)
  }
  const hits = segments.filter(({ fromMs, toMs }) => fromMs <= atMs && atMs <= toMs + afterMs)
  for (const hit of hits) take(hit)
  const oldest = hits.at(-1)
  if (oldest === undefined) {
    take(greatest(segments, ({ toMs }) => (toMs <= atMs ? toMs : -Infinity)))
    take(greatest(segments, ({ fromMs }) => (fromMs > atMs ? -fromMs : -Infinity)))
  } else {
    const older = segments.slice(segments.indexOf(oldest) + 1)
    const first = older.find(({ hasSwap }) => hasSwap)
    if (first !== undefined) wanted.add(first)
  }
  return segments.filter((one) => wanted.has(one))
}

function greatest(
  segments: readonly StoredSegment[],
  of: (segment: StoredSegment) => number,
): StoredSegment | undefined {
  let found: StoredSegment | undefined
  for (const one of segments) {
    if (of(one) > (found === undefined ? -Infinity : of(found))) found = one
  }
  return found
}

/** Stands for segments that are absent or were not read. */
const missing = Buffer.alloc(0)

export type JournalsRead = Pick<Journals, 'segmentsOf' | 'octetsOf' | 'nodes'>

/** Empty: there is no journal of this node. Errors: a sentence about the database. */
export async function storedSegments(
  journals: Pick<Journals, 'segmentsOf' | 'octetsOf'>,
  node: string,
  atMs: number,
): Promise<Result<readonly Uint8Array[], string>> {
  const listed = await journals.segmentsOf(node)
  if (!listed.ok) return err(listed.error.message)
  const wanted = segmentsFor(listed.value, atMs)
  return await filesOf(journals, { node, wanted, bytesMax: copyLimits.readBytesMax })
}

interface WantedFiles {
  readonly node: string
  readonly wanted: readonly StoredSegment[]
  readonly bytesMax: number
}

async function filesOf(
  journals: Pick<Journals, 'octetsOf'>,
  { node, wanted, bytesMax }: WantedFiles,
): Promise<Result<readonly Uint8Array[], string>> {
  const files: Uint8Array[] = []
  let bytes = 0
  let before: number | undefined
  for (const { run, number, bytes: more } of wanted) {
    bytes += more
    if (bytes > bytesMax && files.length > 0) break
    if (before !== undefined && before - number > 1) files.push(missing)
    before = number
    const octets = await journals.octetsOf({ node, run, number })
    if (!octets.ok) return err(octets.error.message)
    files.push(octets.value)
  }
  return ok(files)
}

export interface NodeSegments {
  readonly node: string
  /** Segments, the newest first. */
  readonly segments: readonly Uint8Array[]
}

interface WantedNodes {
  /** Start of the period; the state at the start is in the segment before. */
  readonly fromMs: number
  readonly isWanted: (node: string) => boolean
}

/** Journals of a limited number of nodes, by name. Errors: a sentence about the database. */
export async function segmentsSince(
  journals: JournalsRead,
  { fromMs, isWanted }: WantedNodes,
): Promise<Result<readonly NodeSegments[], string>> {
  const listed = await journals.nodes()
  if (!listed.ok) return err(listed.error.message)
  const nodes = listed.value.filter(({ node, toMs }) => toMs >= fromMs && isWanted(node))
  const read = nodes.slice(0, copyLimits.nodesRead)
  const found: NodeSegments[] = []
  for (const { node } of read) {
    const all = await journals.segmentsOf(node)
    if (!all.ok) return err(all.error.message)
    const first = all.value.findIndex((one) => one.fromMs <= fromMs)
    const wanted = first < 0 ? all.value : all.value.slice(0, first + 1)
    const bytesMax = copyLimits.readBytesMax / read.length
    const segments = await filesOf(journals, { node, wanted, bytesMax })
    if (!segments.ok) return segments
    found.push({ node, segments: segments.value })
  }
  return ok(found)
}
