// Looks up the health of members over time, in a thread of its own: a commit may have to be
// compiled to learn which row of a journal belonged to which member.
import { assert } from '#lib/assert.ts'
import type { HealthHistory, NodeHistory, PastFault } from '#ports/past.ts'
import { textOf, uidOf } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { MemberFlag } from '#bundle/format/cells.ts'
import { isResolved } from '#bundle/format/hostnames.ts'
import { probedPools } from '#bundle/load/probed-pools.ts'
import { systemClock } from '#lib/clock.ts'
import type { Clock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { generationsIn, historyOf, rowsKey, segmentsFrom } from '#journal/member-history.ts'
import type { HistoryRange, MemberRow, PastSegment, RowsOf } from '#journal/member-history.ts'
import { segmentsIn } from '#journal/moment.ts'
import type { GenerationHead } from '#journal/format/records.ts'
import { pastBundle } from '#why/past-bundle.ts'
import type { NodeSegments } from './stored-segments.ts'

export interface HealthJob extends HistoryRange {
  /** Journal of this node; null: it keeps none. */
  readonly journalDirectory: string | null
  /** Copied journals of other nodes. */
  readonly copies: readonly NodeSegments[]
  readonly dataDir: string
  readonly gitdirs: readonly string[]
  /** Tenant of the pool: rows of another tenant do not count. */
  readonly tenant: string
  readonly members: readonly string[]
  /** Rows that an earlier job found out. */
  readonly known: RowsOf
}

export interface PastHealth {
  readonly history: HealthHistory
  readonly rowsOf: RowsOf
}

/** Bundles compiled for one look, newest first; in a large repository a second each. */
const compiledMax = 16
/** After so long no further compilation begins; the next look continues from the results. */
const beginMsMax = 20_000

export async function runHealthJob(
  job: HealthJob,
  clock: Pick<Clock, 'monotonicMs'> = systemClock,
): Promise<Result<PastHealth, PastFault>> {
  const { journalDirectory: own, copies, fromMs, toMs } = job
  const journals = [
    ...(own === null ? [] : [segmentsFrom(segmentsIn(own), job)]),
    ...copies.map(({ segments }) => segmentsFrom(segments.map(bufferOf), job)),
  ].filter((segments) => segments.length > 0)
  if (journals.length === 0) {
    const reason =
      own === null
        ? 'no journal in the database is of this time'
        : 'the journal of this node has nothing yet'
    return err({ code: 'unknown', reason })
  }
  const rowsOf = await rowsByKey(job, journals, clock)
  const nodes = journals.map((segments): NodeHistory => {
    const lines = historyOf(segments, rowsOf, job.members.length, job)
    assert(lines.length === job.members.length, 'each member has its line')
    const last = segments.at(-1)
    assert(last !== undefined, 'a journal that is looked at has a segment')
    return {
      node: last.head.node,
      members: lines.map((stretches, place) => ({ member: job.members[place]!, stretches })),
    }
  })
  return ok({ history: { fromMs, toMs, nodes }, rowsOf })
}

const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength)

/** Nodes of a fleet answer from the same bundles, so each bundle is looked up once. */
async function rowsByKey(
  job: HealthJob,
  journals: readonly (readonly PastSegment[])[],
  clock: Pick<Clock, 'monotonicMs'>,
): Promise<RowsOf> {
  const lateMs = clock.monotonicMs() + beginMsMax
  const heads = new Map<string, GenerationHead>()
  for (const segments of journals) {
    for (const head of generationsIn(segments)) {
      if (heads.size < compiledMax && !heads.has(rowsKey(head))) heads.set(rowsKey(head), head)
    }
  }
  const rowsOf = new Map<string, readonly MemberRow[] | null>()
  for (const [key, head] of heads) {
    const known = job.known.get(key)
    if (known === undefined && clock.monotonicMs() > lateMs) continue
    rowsOf.set(key, known === undefined ? await pastRows(job, head) : known)
  }
  return rowsOf
}

/** @returns null: the bundle no longer exists */
async function pastRows(
  job: HealthJob,
  head: GenerationHead,
): Promise<readonly MemberRow[] | null> {
  const found = await pastBundle(job.dataDir, job.gitdirs, head)
  return found.ok ? rowsIn(found.value.bundle, job, head) : null
}

function rowsIn(
  bundle: Bundle,
  { tenant, members }: HealthJob,
  { checks = 'all' }: GenerationHead,
): readonly MemberRow[] {
  const probed = probedPools(bundle, checks)
  const places = new Map(members.map((uid, place) => [uid, place]))
  const rows: MemberRow[] = []
  for (let row = 0; row < bundle.counts.members; row++) {
    const place = places.get(uidOf(bundle.memberUid, row))
    if (place === undefined) continue
    const pool = bundle.memberPool[row]!
    if (textOf(bundle, bundle.poolTenant[pool]!) !== tenant) continue
    const isEnabled = (bundle.memberFlags[row]! & MemberFlag.Enabled) !== 0
    const isProbed = probed[pool] === 1
    rows.push({ row, place, isEnabled, isProbed, isResolved: isResolved(bundle, row) })
  }
  return rows
}
