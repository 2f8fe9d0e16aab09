// Answers the API's questions about the past in a thread of their own, and hides what a tenant may
// not see.
import { assert } from '#lib/assert.ts'
import type { Past, PastFault, PastQuery } from '#ports/past.ts'
import { invalid } from '#judge/simulate/question-text.ts'
import { hasRecords } from '#questions/simulate/records-owner.ts'
import { rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import { foldName, formatName, parseName } from '#dns/name.ts'
import type { StoredRecord } from '#state/ports/dynamic-dns.ts'
import type { WrittenNote } from '#why/look-back.ts'
import type { ConfigView } from '#config/view.ts'
import type { Clock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { TenantPlaces } from '#lib/sequence/tenant-places.ts'
import type { GeoSource } from '#inputs/geo/geo-source.ts'
import type { Journal } from '#journal/journal.ts'
import { JobThread } from '#system/worker/job-thread.ts'
import { repositoriesIn } from '#why/past-bundle.ts'
import type { HealthJob, PastHealth } from './health-job.ts'
import { KnownRows } from './member-rows-cache.ts'
import { databasesOf } from '#inputs/geo/databases.ts'
import { journalDirectory } from '#journal/journal-directory.ts'
import { timeText } from '#why/look-back.ts'
import { pastInstant } from './past-job.ts'
import type { PastJob, PastJournal, PastAnswer } from './past-job.ts'
import { segmentsSince, storedSegments } from './stored-segments.ts'
import type { JournalsRead, NodeSegments } from './stored-segments.ts'

interface JournalCopies {
  readonly journals: JournalsRead
  /** Whether there is a database. */
  readonly exists: () => boolean
}

interface PastAnswersParts {
  readonly dataDir: string
  readonly nodeName: string
  /** null: the settings keep none, or there are no answers to explain. */
  readonly journal: Pick<Journal, 'flush'> | null
  /** Whether the node has the role dns. */
  readonly isAnswering: boolean
  readonly geo: Pick<GeoSource, 'status' | 'buffers'>
  /** Copied journals of all nodes. */
  readonly copies: JournalCopies
  readonly config: ConfigView
  /** Types beside TXT that updates may write. Default: none. */
  readonly writtenTypes?: readonly number[]
  /**
   * @param name absolute, in lower case, with the final dot
   * @returns its records that were written at run time. Default: none
   */
  readonly writtenAt?: (name: string) => readonly StoredRecord[]
  readonly clock: Clock
  /** Time for one question; default `pastLimits.jobMs`. */
  readonly jobMs?: number
}

export const pastLimits = {
  /** Questions at the same time, including the one under way. */
  waitingMax: 8,
  /** Questions of one tenant at once, so that others have a place. */
  perTenantMax: 4,
  /** Time for one question: a large repository takes seconds to compile. */
  jobMs: 60_000,
  /** Nodes that a refusal lists. */
  namedMax: 20,
} as const

/** A question has the outcome of its own kind. */
type Outcome = Result<PastAnswer | PastHealth, PastFault>

export class PastAnswers {
  readonly #parts: PastAnswersParts
  readonly #thread: JobThread<PastJob | HealthJob, Outcome>
  readonly #rows: KnownRows
  readonly #places = new TenantPlaces(pastLimits.perTenantMax)

  constructor(parts: PastAnswersParts) {
    this.#parts = parts
    this.#rows = new KnownRows(parts.clock)
    const { waitingMax, jobMs } = pastLimits
    const file = new URL('./past-worker.ts', import.meta.url)
    this.#thread = new JobThread({ file, waitingMax, jobMs: parts.jobMs ?? jobMs })
  }

  why: Past['why'] = async (query, tenant) => {
    const { nodeName, journal, isAnswering, config } = this.#parts
    const isOther = query.node !== undefined && query.node !== nodeName
    if (!isOther && !isAnswering) return unknown(answersNothing)
    if (!isOther && journal === null) return unknown(keepsNone)
    const done = await this.#ask<PastAnswer>(tenant, async () => {
      const from = isOther ? await this.#copyOf(query, tenant) : await this.#own()
      return from.ok ? ok(this.#jobOf(query, tenant, from.value)) : from
    })
    if (!done.ok) return tenant === null ? done : forTenant(done.error)
    const { shown, owner, tenant: holder } = done.value
    if (tenant === null) return ok(shown)
    const isSeen = holder === tenant || hasRecords(config, owner, tenant)
    return isSeen ? ok(shown) : err({ code: 'not-found' })
  }

  health: Past['health'] = async ({ tenant, members, rangeMs, ofAll, node }) => {
    const { nodeName, journal, isAnswering, dataDir, clock, copies } = this.#parts
    const isOwn = journal !== null && (node ?? nodeName) === nodeName
    const readsCopies = ofAll && copies.exists() && !(isOwn && node !== undefined)
    if (!isOwn && !readsCopies) {
      if (node !== undefined && node !== nodeName) return unknown(`${noJournalOf} ${node} here`)
      return unknown(isAnswering ? keepsNone : answersNothing)
    }
    const asked = { tenant, members }
    const done = await this.#ask<PastHealth>(tenant, async () => {
      if (isOwn) await journal.flush()
      const toMs = Math.floor(clock.nowMs())
      const fromMs = toMs - rangeMs
      const isWanted = (one: string): boolean =>
        (node === undefined || one === node) && !(isOwn && one === nodeName)
      const found: Result<readonly NodeSegments[], string> = readsCopies
        ? await segmentsSince(copies.journals, { fromMs, isWanted })
        : ok([])
      // Without the database, the node's own journal is used.
      if (!found.ok && !isOwn) return err({ code: 'away', reason: found.error })
      return ok({
        ...{ ...asked, known: this.#rows.of(asked), dataDir, fromMs, toMs },
        copies: found.ok ? found.value : [],
        gitdirs: repositoriesIn(dataDir),
        journalDirectory: isOwn ? journalDirectory(dataDir) : null,
      })
    })
    if (!done.ok) return done
    this.#rows.keep(asked, done.value.rowsOf)
    return ok(done.value.history)
  }

  /** Waits for its turn and has a time limit: a disk or a database may hang. */
  async #ask<Told extends PastAnswer | PastHealth>(
    tenant: string | null,
    jobOf: () => Promise<Result<PastJob | HealthJob, PastFault>>,
  ): Promise<Result<Told, PastFault>> {
    const leave = this.#places.enter(tenant)
    if (leave === undefined) return err({ code: 'busy' })
    let fault: PastFault | undefined
    const run = this.#thread.run(async () => {
      const job = await jobOf()
      if (job.ok) return job.value
      fault = job.error
      return undefined
    })
    const done = await run.finally(leave)
    if (fault !== undefined) return err(fault)
    if (done === 'busy') return err({ code: 'busy' })
    if (typeof done === 'string') return err({ code: 'too-slow' })
    assert('ok' in done, 'a question about the past gets a result')
    return done as Result<Told, PastFault>
  }

  async close(): Promise<void> {
    await this.#thread.close()
  }

  #jobOf(query: PastQuery, tenant: string | null, journal: PastJournal): PastJob {
    const { dataDir, geo, clock, writtenTypes = [], writtenAt } = this.#parts
    const name = parseName(query.name)
    const records = name.ok ? (writtenAt?.(formatName(foldName(name.value))) ?? []) : []
    const seen = records.filter(({ tenantId }) => tenant === null || tenantId === tenant)
    return {
      ...{ query, tenant, nowMs: clock.nowMs(), dataDir, geo: geo.buffers, journal },
      ...{ gitdirs: repositoriesIn(dataDir), releases: databasesOf(geo) },
      ...{ writtenTypes, written: seen.map(noteOf) },
    }
  }

  async #own(): Promise<Result<PastJournal, PastFault>> {
    await this.#parts.journal?.flush()
    return ok({ directory: journalDirectory(this.#parts.dataDir) })
  }

  async #copyOf(query: PastQuery, tenant: string | null): Promise<Result<PastJournal, PastFault>> {
    const { nodeName, clock, copies } = this.#parts
    const { node = nodeName, at } = query
    const atMs = pastInstant(at, clock.nowMs())
    if (!atMs.ok) return atMs
    if (!copies.exists()) {
      return invalid('node', `${nodeName} has its own journal alone: ask the API of ${node}`)
    }
    const segments = await storedSegments(copies.journals, node, atMs.value)
    if (!segments.ok) return err({ code: 'away', reason: segments.error })
    if (segments.value.length > 0) return ok({ node, segments: segments.value })
    const known = tenant === null ? await this.#known() : ''
    return invalid('node', `${noJournalOf} ${node} here${known}`)
  }

  /** A clause that lists known nodes. */
  async #known(): Promise<string> {
    const nodes = await this.#parts.copies.journals.nodes()
    if (!nodes.ok) return ''
    const names = nodes.value.map(
      ({ node, fromMs, toMs }) => `${node} from ${timeText(fromMs)} to ${timeText(toMs)}`,
    )
    const { nodeName, isAnswering } = this.#parts
    const all = isAnswering ? [`${nodeName} itself`, ...names] : names
    const shown = all.slice(0, pastLimits.namedMax)
    const more = all.length > shown.length ? `, and ${all.length - shown.length} more` : ''
    return shown.length === 0
      ? ', nor one of any other node'
      : `; known are ${shown.join(', ')}${more}`
  }
}

function noteOf({ name, type, rdata, writtenBy, createdAtMs }: StoredRecord): WrittenNote {
  const { name: typeName, print } = rdataTypeOf(type)
  const by =
    writtenBy === '' ? 'somebody' : writtenBy.replace(/^key:/, 'key ').replace(/^kerberos:/, '')
  const data = print(Buffer.from(rdata, 'base64'))
  return { createdAtMs, text: `${name} ${typeName} ${data} was written at run time by ${by}` }
}

const noJournalOf = 'there is no journal of'

const keepsNone =
  'the settings of this node keep no journal: with journal.enabled it keeps what is needed from ' +
  'then on'

const answersNothing =
  'this node answers no queries (roles: [control]), so it has none of its own to explain; name a ' +
  'node that does (node, or --node of gslbd why)'

const unknown = (reason: string): Result<never, PastFault> => err({ code: 'unknown', reason })

/** Hides files and commits of the operator from a tenant. */
function forTenant(fault: PastFault): Result<never, PastFault> {
  return fault.code === 'unknown' ? unknown('nothing is known of that instant here') : err(fault)
}
