// Questions of the API about the past: asks a thread of their own, and shows what a tenant may see.
import type { HealthHistory, Past, PastFault } from '#api/ports/past.ts'
import { hasRecords } from '#cli/simulate/own-records.ts'
import type { ConfigView } from '#config/view.ts'
import type { Clock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { GeoSource } from '#runtime/geo/geo-source.ts'
import type { Journal } from '#runtime/journal/journal.ts'
import { JobThread } from '#runtime/worker/job-thread.ts'
import { repositoriesIn } from './bundle-of-then.ts'
import type { HealthJob } from './health-job.ts'
import { databasesOf, journalDirectory } from './node-journal.ts'
import type { PastJob, ToldPast } from './past-job.ts'

export interface PastAnswersParts {
  readonly dataDir: string
  readonly nodeName: string
  /** null: the settings want none, or there are no answers to explain. */
  readonly journal: Pick<Journal, 'flush'> | null
  /** Whether the node has the role dns. */
  readonly isAnswering: boolean
  readonly geo: Pick<GeoSource, 'status' | 'buffers'>
  readonly config: ConfigView
  readonly clock: Clock
}

export const pastLimits = {
  /** Questions at once, the one under way among them. */
  waitingMax: 4,
  /** A large repository takes seconds to compile. */
  jobMs: 60_000,
} as const

/** Of a question, what was asked for: the thread answers each as it is. */
type Outcome = Result<ToldPast | HealthHistory, PastFault>

export class PastAnswers {
  readonly #parts: PastAnswersParts
  readonly #thread: JobThread<PastJob | HealthJob, Outcome>

  constructor(parts: PastAnswersParts) {
    this.#parts = parts
    const file = new URL('./past-worker.ts', import.meta.url)
    this.#thread = new JobThread({ file, ...pastLimits })
  }

  why: Past['why'] = async (query, tenant) => {
    const { nodeName, journal, isAnswering, dataDir, geo, clock, config } = this.#parts
    if (query.node !== undefined && query.node !== nodeName) {
      const reason = `${nodeName} has its own journal alone: ask the API of ${query.node}`
      return err({ code: 'invalid', field: 'node', reason })
    }
    if (!isAnswering) return unknown(answersNothing)
    if (journal === null) return unknown(keepsNone)
    await journal.flush()
    const done = await this.#ask<ToldPast>(() => ({
      ...{ query, tenant, nowMs: clock.nowMs(), dataDir, geo: geo.buffers },
      gitdirs: repositoriesIn(dataDir),
      journalDirectory: journalDirectory(dataDir),
      releases: databasesOf(geo),
    }))
    if (!done.ok) return tenant === null ? done : forTenant(done.error)
    const { shown, owner, tenant: holder } = done.value
    const isSeen = tenant === null || holder === tenant || hasRecords(config, owner, tenant)
    return isSeen ? ok(shown) : err({ code: 'not-found' })
  }

  health: Past['health'] = async ({ tenant, members, rangeMs }) => {
    const { journal, isAnswering, dataDir, clock } = this.#parts
    if (!isAnswering) return unknown(answersNothing)
    if (journal === null) return unknown(keepsNone)
    await journal.flush()
    return this.#ask<HealthHistory>(() => {
      const toMs = Math.floor(clock.nowMs())
      return {
        ...{ tenant, members, dataDir, fromMs: toMs - rangeMs, toMs },
        gitdirs: repositoriesIn(dataDir),
        journalDirectory: journalDirectory(dataDir),
      }
    })
  }

  async #ask<Told extends ToldPast | HealthHistory>(
    jobOf: () => PastJob | HealthJob,
  ): Promise<Result<Told, PastFault>> {
    const done = await this.#thread.run(jobOf)
    if (done === 'busy') return err({ code: 'busy' })
    if (typeof done === 'string') return err({ code: 'too-slow' })
    return done as Result<Told, PastFault>
  }

  async close(): Promise<void> {
    await this.#thread.close()
  }
}

const keepsNone =
  'the settings of this node keep no journal: with journal.enabled it keeps what is needed from ' +
  'then on'

const answersNothing =
  'this node answers no queries (roles: [control]), so it has none to explain; run "gslbd why" ' +
  'on the machine of a node that does'

const unknown = (reason: string): Result<never, PastFault> => err({ code: 'unknown', reason })

/** Files and commits of the operator are not a tenant's to see. */
function forTenant(fault: PastFault): Result<never, PastFault> {
  return fault.code === 'unknown' ? unknown('nothing is known of that instant here') : err(fault)
}
