// Answers one question about the past, in a thread of its own: a commit may have to be compiled.
import type { PastFault, PastQuery } from '#ports/past.ts'
import { shownAnswer, shownService } from '#questions/simulate/live-job.ts'
import { invalid, readQuestion } from '#judge/simulate/question-text.ts'
import { formatName, parseName } from '#dns/name.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { GeoBuffers } from '#routing/geo/geo-tables.ts'
import { segmentsIn } from '#journal/moment.ts'
import { tablesOf } from '#inputs/geo/databases.ts'
import { readPastInstant } from '#why/instant-text.ts'
import { lookBack } from '#why/look-back.ts'
import type { PastReport, WhyQuestion, WrittenNote } from '#why/look-back.ts'
import { printReport } from '#why/print.ts'

export interface PastJob {
  readonly query: PastQuery
  /** null: the caller may see all. */
  readonly tenant: string | null
  readonly nowMs: number
  readonly dataDir: string
  readonly gitdirs: readonly string[]
  readonly journal: PastJournal
  readonly geo: GeoBuffers
  readonly releases: Readonly<Record<string, string>>
  readonly writtenTypes: readonly number[]
  readonly written: readonly WrittenNote[]
}

/** Files of this node, or copies of another node's, the newest segment first. */
export type PastJournal =
  | { readonly directory: string }
  | { readonly node: string; readonly segments: readonly Uint8Array[] }

export interface PastAnswer {
  readonly shown: object
  readonly owner: string | null
  /** Tenant of the service at the name; null: there was none. */
  readonly tenant: string | null
}

export async function runPastJob(job: PastJob): Promise<Result<PastAnswer, PastFault>> {
  const question = questionOf(job)
  if (!question.ok) return question
  const { nowMs, dataDir, gitdirs, geo, releases, journal, tenant } = job
  const from =
    'directory' in journal
      ? { segments: segmentsIn(journal.directory), directory: journal.directory }
      : { segments: journal.segments.map((one) => Buffer.from(one)), copyOf: journal.node }
  const databases = { tablesFor: tablesOf(geo), releases }
  const past = await lookBack({ dataDir, gitdirs, databases, ...from }, question.value)
  if (!past.ok) {
    const { reason, isGap } = past.error
    // Asked after the journal, since a node whose clock was ahead has records of later times.
    return isGap && question.value.atMs > nowMs
      ? invalid('at', 'is in the future: POST /api/v1/simulate answers that')
      : err({ code: 'unknown', reason })
  }
  const { owner, tenant: holder } = past.value.simulation
  return ok({ shown: shownPast(job.query, past.value, tenant), owner, tenant: holder })
}

function questionOf({
  query,
  nowMs,
  writtenTypes,
  written,
}: PastJob): Result<WhyQuestion, PastFault> {
  const question = readQuestion(query)
  if (!question.ok) return question
  const at = pastInstant(query.at, nowMs)
  return at.ok ? ok({ ...question.value, atMs: at.value, writtenTypes, written }) : at
}

export function pastInstant(text: string, nowMs: number): Result<number, PastFault> {
  const at = readPastInstant(text, nowMs)
  return at.ok ? at : invalid('at', at.error)
}

/** Hides services of others, and the author of a commit that concerns all, from a tenant. */
export function shownPast(query: Omit<PastQuery, 'at'>, past: PastReport, tenant: string | null) {
  const { simulation, sinceMs } = past
  const { service } = simulation
  const isOwn = tenant === null || service?.tenant === tenant
  const name = parseName(query.name)
  const nobody = { author: null, date: null, subject: null }
  const commit =
    past.commit === null || tenant === null ? past.commit : { ...past.commit, ...nobody }
  const heading = {
    name: name.ok ? formatName(name.value) : query.name,
    type: query.type.toUpperCase(),
    client: query.subnet ?? query.client ?? null,
  }
  const forText = isOwn ? past : { ...past, shares: [], mayAnswer: [] }
  const report = {
    ...{ ...forText, commit },
    simulation: isOwn ? simulation : { ...simulation, service: null },
  }
  return {
    ...{ name: heading.name, type: heading.type },
    at: new Date(past.atMs).toISOString(),
    ...{ node: past.node, digest: past.digest, bundleFrom: past.bundleFrom },
    commit,
    since: sinceMs === null ? null : new Date(sinceMs).toISOString(),
    ...{ isCertain: past.isCertain, notes: past.notes },
    shares: isOwn ? past.shares : [],
    mayAnswer: isOwn ? past.mayAnswer : [],
    ...shownAnswer(simulation),
    service: service === null || !isOwn ? null : shownService(service),
    text: printReport(heading, report, tenant === null),
  }
}
