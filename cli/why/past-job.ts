// One question about the past, as it runs in a thread of its own: a commit may have to be compiled.
import type { PastFault, PastQuery } from '#api/ports/past.ts'
import { shownAnswer, shownService } from '#cli/simulate/live-job.ts'
import { readClient, readType } from '#cli/simulate/question-text.ts'
import { parseAddress } from '#dns/address.ts'
import { formatName, parseName } from '#dns/name.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { GeoBuffers } from '#routing/geo/geo-tables.ts'
import { segmentsIn } from '#runtime/journal/moment.ts'
import { tablesOf } from './databases.ts'
import { readPastInstant } from './instant-text.ts'
import { lookBack } from './look-back.ts'
import type { PastReport, WhyQuestion } from './look-back.ts'
import { printReport } from './print.ts'

export interface PastJob {
  readonly query: PastQuery
  /** null: may see all. */
  readonly tenant: string | null
  readonly nowMs: number
  readonly dataDir: string
  readonly gitdirs: readonly string[]
  readonly journalDirectory: string
  readonly geo: GeoBuffers
  readonly releases: Readonly<Record<string, string>>
}

export interface ToldPast {
  readonly shown: object
  readonly owner: string | null
  /** Whose service had the name; null: none had. */
  readonly tenant: string | null
}

const invalid = (field: string, reason: string): Result<never, PastFault> =>
  err({ code: 'invalid', field, reason })

export async function runPastJob(job: PastJob): Promise<Result<ToldPast, PastFault>> {
  const question = questionOf(job)
  if (!question.ok) return question
  const { dataDir, gitdirs, geo, releases, journalDirectory, tenant } = job
  const segments = segmentsIn(journalDirectory)
  const databases = { tablesFor: tablesOf(geo), releases }
  const past = await lookBack({ dataDir, gitdirs, segments, databases }, question.value)
  if (!past.ok) return err({ code: 'unknown', reason: past.error })
  const { owner, tenant: holder } = past.value.simulation
  return ok({ shown: shownPast(job.query, past.value, tenant), owner, tenant: holder })
}

function questionOf({ query, nowMs }: PastJob): Result<WhyQuestion, PastFault> {
  const qname = parseName(query.name)
  if (!qname.ok) return invalid('name', `is not a domain name (${qname.error})`)
  const qtype = readType(query.type)
  if (!qtype.ok) return invalid('type', qtype.error)
  const client = query.subnet === undefined ? ok(null) : readClient(query.subnet)
  if (!client.ok) return invalid('subnet', client.error)
  const source = query.client === undefined ? undefined : parseAddress(query.client)
  if (source?.ok === false) return invalid('client', `"${query.client}" is not an IP address`)
  const at = readPastInstant(query.at, nowMs)
  if (!at.ok) return invalid('at', at.error)
  if (at.value > nowMs) return invalid('at', 'is in the future: POST /api/v1/simulate answers that')
  return ok({
    ...{ qname: qname.value, qtype: qtype.value, client: client.value, atMs: at.value },
    ...(source === undefined ? {} : { source: Uint8Array.from(source.value) }),
  })
}

/** Others' services, and who made a commit of all, are not a tenant's to see. */
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
