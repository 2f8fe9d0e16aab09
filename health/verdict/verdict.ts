// Decides when consecutive probe results change the verdict on a member.

/** Verdict about a target; it is healthy before its first probe. */
export interface Verdict {
  healthy: boolean
  /** Results in a row that contradict `healthy`. */
  contraryCount: number
}

export function initialVerdict(healthy = true): Verdict {
  return { healthy, contraryCount: 0 }
}

interface VerdictRule {
  readonly riseCount: number
  readonly fallCount: number
}

/**
 * Adds a result.
 *
 * @returns true when it changed `verdict.healthy`
 */
export function takeResult(verdict: Verdict, success: boolean, rule: VerdictRule): boolean {
  if (success === verdict.healthy) {
    verdict.contraryCount = 0
    return false
  }
  verdict.contraryCount++
  if (verdict.contraryCount < (success ? rule.riseCount : rule.fallCount)) return false
  verdict.healthy = success
  verdict.contraryCount = 0
  return true
}
