// Makes the plans of the API: compares a proposed bundle with the active one, in a thread.
import type { PlanFault, Planner, PlanQuestion } from '#ports/planner.ts'
import type { MoveLimits } from '#judge/guard/moved-limit.ts'
import type { Clock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { healthNow } from '#routing/choose/explain.ts'
import type { AssumedHealth } from '#routing/choose/explain.ts'
import type { LiveNode } from '#server/node/live-node.ts'
import { readTime } from '#judge/simulate/question-text.ts'
import { copyOfBundle } from './bundle-copy.ts'
import type { JudgedPlan } from './live-plan-job.ts'
import { PlanThread } from './plan-thread.ts'

/** Plans that wait, over all tenants; each tenant has at most one. */
const waitingMax = 4

interface LivePlannerParts {
  /** Bundle and state that answer now; undefined: there is no bundle. */
  readonly node: () => LiveNode | undefined
  readonly clock: Clock
  readonly moveLimits: () => MoveLimits
  /** Time for one plan; default `jobThreadLimits.jobMs`. */
  readonly jobMs?: number
}

export class LivePlanner implements Planner {
  readonly #parts: LivePlannerParts
  readonly #thread: PlanThread<JudgedPlan>

  constructor(parts: LivePlannerParts) {
    this.#parts = parts
    this.#thread = new PlanThread({ waitingMax, jobMs: parts.jobMs })
  }

  plan = async (question: PlanQuestion): Promise<Result<object, PlanFault>> => {
    const { node, clock } = this.#parts
    const atMs: number[] = []
    for (const [i, text] of question.at.entries()) {
      const time = readTime(text)
      if (!time.ok) return err({ code: 'invalid', field: `at.${i}`, reason: time.error })
      atMs.push(time.value)
    }
    if (atMs.length === 0) atMs.push(clock.nowMs())
    if (node() === undefined) return err({ code: 'no-bundle' })
    const { bundle: next, withHealth, limit, viewer } = question
    const judged = await this.#thread.run(() => {
      const live = node()
      if (live === undefined) return undefined
      const { tables } = live
      const health = withHealth ? healthOf(live) : null
      const moveLimits = this.#parts.moveLimits()
      const asked = { next, atMs, health, viewer, limit, moveLimits }
      return { kind: 'plan', ...copyOfBundle(live), tables, ...asked }
    })
    if (typeof judged === 'string') return err({ code: judged })
    const { plan, moved } = judged
    const isBack = moved.length > 0 && (await question.goesBack(moved))
    return ok(isBack ? { ...plan, guardrail: null } : plan)
  }

  async close(): Promise<void> {
    await this.#thread.close()
  }
}

/** Health as this node has it; healthy members are left out. */
function healthOf({ bundle, state }: LiveNode): ReadonlyMap<string, AssumedHealth> {
  const isWell = ({ healthy, score, rttMs }: AssumedHealth): boolean =>
    healthy && score === 1 && rttMs === 0
  return new Map([...healthNow(bundle, state)].filter(([, health]) => !isWell(health)))
}
