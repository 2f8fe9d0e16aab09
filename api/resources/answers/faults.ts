// Answers what could not be found out: by a simulation, a plan, or a look into the past.
import { apiLimits } from '#http/limits.ts'
import { invalid, later, missing, refused } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import type { PastFault } from '#ports/past.ts'
import type { PlanFault } from '#ports/planner.ts'
import type { SimulationFault } from '#ports/simulator.ts'

const { readingSeconds } = apiLimits.retryAfter

interface FaultSentences {
  /** What waits, such as `simulations`. */
  readonly others: string
  readonly tooSlow: string
}

export function notFoundOut(
  fault: SimulationFault | PlanFault | PastFault,
  { others, tooSlow }: FaultSentences,
): Reply {
  switch (fault.code) {
    case 'invalid':
      return invalid(fault.field, fault.reason)
    case 'not-found':
      return missing('name')
    case 'unknown':
      return refused(404, fault.reason)
    case 'away':
      return later(503, fault.reason, readingSeconds)
    case 'no-bundle':
      return later(503, 'this node answers nothing yet', readingSeconds)
    case 'busy':
      return later(503, `other ${others} are waiting: try again`, 1)
    case 'too-slow':
    case 'failed':
      return later(503, tooSlow, 1)
  }
}
