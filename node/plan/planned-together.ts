// Plans writes that wait at the same time as one change: those that have no name in common.
import type { ConfigWriter, WriteRequest, WriteResult } from '#config/operation.ts'
import { gitLimits } from '#gitops/limits.ts'
import type { Clock } from '#lib/clock.ts'
import { effectLimits } from './effects.ts'

export const togetherLimits = {
  /** Requests of one plan. */
  requestsMax: 32,
  /** Requests that wait for their plan; what is beyond is not planned. */
  waitingMax: 512,
  /** One that has waited for so long is not planned, like one whose plan takes as long. */
  waitMs: effectLimits.jobMs,
} as const

export interface PlannedTogether {
  /** Result of one dry run for all of them. */
  readonly tried: WriteResult
  /** 1: it was planned alone. */
  readonly count: number
}

/** What a joint plan says. `fine` holds for each request, `mixed` for some. `unknown`: no time. */
export type Outcome = 'fine' | 'unknown' | 'mixed'

export interface TogetherParts {
  /** Plans one request, which may join the operations of many. */
  readonly plan: ConfigWriter['write']
  readonly outcome: (tried: WriteResult) => Outcome
  /** Where two have nothing in common, both move what each moves alone; null: it is to be alone. */
  readonly subjects: (request: WriteRequest) => ReadonlySet<string> | null
  readonly clock: Clock
}

interface Waiting {
  readonly request: WriteRequest
  readonly sinceMs: number
  readonly settle: (planned: PlannedTogether | null) => void
  readonly fail: (thrown: unknown) => void
}

/**
 * One plan at a time: what arrives meanwhile is planned next, together. Where a joint plan is not
 * fine, each half is planned by itself, down to single requests, so that only requests that must
 * be refused are.
 */
export class TogetherPlanner {
  readonly #parts: TogetherParts
  #waiting: Waiting[] = []
  #isRunning = false
  /** Less after a plan that took too long. */
  #requestsMax: number = togetherLimits.requestsMax

  constructor(parts: TogetherParts) {
    this.#parts = parts
  }

  /** null: it has waited too long, or too many wait. */
  plan(request: WriteRequest): Promise<PlannedTogether | null> {
    if (this.#waiting.length >= togetherLimits.waitingMax) return Promise.resolve(null)
    return new Promise((settle, fail) => {
      const sinceMs = this.#parts.clock.monotonicMs()
      this.#waiting.push({ request, settle, fail, sinceMs })
      if (!this.#isRunning) void this.#run()
    })
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#waiting.length > 0) {
      const batch = this.#takeBatch()
      try {
        await this.#planAll(batch)
      } catch (thrown) {
        for (const { fail } of batch) fail(thrown)
      }
    }
    this.#isRunning = false
  }

  /** The one that waits longest, and what may be planned with it. */
  #takeBatch(): readonly Waiting[] {
    const oldestMs = this.#parts.clock.monotonicMs() - togetherLimits.waitMs
    const late = this.#waiting.filter(({ sinceMs }) => sinceMs < oldestMs)
    for (const { settle } of late) settle(null)
    const [first, ...others] = this.#waiting.filter(({ sinceMs }) => sinceMs >= oldestMs)
    this.#waiting = others
    if (first === undefined) return []
    const batch = [first]
    const own = this.#subjects(first)
    if (own === null) return batch
    const taken = new Set(own)
    let operations = first.request.operations.length
    for (const one of others) {
      if (batch.length >= this.#requestsMax) break
      const subjects = this.#subjects(one)
      const count = operations + one.request.operations.length
      if (subjects === null || !subjects.isDisjointFrom(taken)) continue
      if (count > gitLimits.writeOperationsMax) continue
      batch.push(one)
      operations = count
      for (const subject of subjects) taken.add(subject)
    }
    const chosen = new Set(batch)
    this.#waiting = others.filter((one) => !chosen.has(one))
    return batch
  }

  #subjects({ request }: Waiting): ReadonlySet<string> | null {
    return this.#parts.subjects(request)
  }

  async #planAll(batch: readonly Waiting[]): Promise<void> {
    const [first] = batch
    if (first === undefined) return
    const tried = await this.#parts.plan(batch.length === 1 ? first.request : requestOf(batch))
    const outcome = batch.length === 1 ? 'fine' : this.#parts.outcome(tried)
    if (outcome === 'fine') {
      if (batch.length > 1)
        this.#requestsMax = Math.min(2 * this.#requestsMax, togetherLimits.requestsMax)
      for (const { settle } of batch) settle({ tried, count: batch.length })
    } else if (outcome === 'unknown') {
      // Each has its own time, at once: no more are planned than in that time can be.
      this.#requestsMax = Math.max(1, batch.length >> 1)
      await Promise.all(batch.map((one) => this.#planAll([one])))
    } else {
      for (const part of divided(batch, tried)) await this.#planAll(part)
    }
  }
}

/** Joins the requests into one, as far as a plan looks at it. */
function requestOf(batch: readonly Waiting[]): WriteRequest {
  const { requestId, actor } = batch[0]!.request
  const isAdmin = batch.some(({ request }) => request.mayTakeAnyName === true)
  return {
    ...{ requestId, actor, operations: batch.flatMap(({ request }) => request.operations) },
    ...(isAdmin ? { mayTakeAnyName: true } : {}),
  }
}

/** The one whose operation has failed, and the others; or two halves. */
function divided(batch: readonly Waiting[], tried: WriteResult): readonly (readonly Waiting[])[] {
  const operation = tried.ok ? -1 : tried.error.operation
  const faulty = batch.flatMap((one) => one.request.operations.map(() => one))[operation]
  if (faulty !== undefined) return [[faulty], batch.filter((one) => one !== faulty)]
  const half = batch.length >> 1
  return [batch.slice(0, half), batch.slice(half)]
}
