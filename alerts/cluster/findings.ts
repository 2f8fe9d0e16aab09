// Collects what is wrong on this node: conditions that have held for their minimum time.
import { conditions } from '#alerts/conditions.ts'
import type { Condition, ConditionSettings, Found } from '#alerts/condition.ts'
import type { AlertFacts } from '#alerts/facts.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { fairShare } from '#lib/sequence/fair-share.ts'
import { alertLimits, severities } from '#state/ports/alerts.ts'
import type { Finding } from '#state/ports/alerts.ts'

interface FindingsParts {
  readonly facts: AlertFacts
  readonly settings: ConditionSettings
  readonly clock: Clock
  readonly log: Log
}

export class Findings {
  readonly #parts: FindingsParts
  /** When it was first found, by the monotonic clock and `keyOf`. */
  #since = new Map<string, number>()
  #isTooManyLogged = false
  readonly #logged = new Set<string>()

  constructor(parts: FindingsParts) {
    this.#parts = parts
  }

  /**
   * The most severe first, at most `alertLimits.findingsPerNodeMax`. Tenants have equal shares of
   * them, and so has the operator: pools of one tenant hide nothing that is wrong elsewhere.
   */
  look(): readonly Finding[] {
    const nowMs = this.#parts.clock.monotonicMs()
    const since = new Map<string, number>()
    const findings: Finding[] = []
    for (const condition of conditions) {
      for (const found of this.#found(condition)) {
        const finding = findingOf(condition, found)
        const key = keyOf(finding)
        const sinceMs = this.#since.get(key) ?? nowMs
        since.set(key, sinceMs)
        if (nowMs - sinceMs >= condition.holdMs) findings.push(finding)
      }
    }
    this.#since = since
    return this.#bounded(findings)
  }

  /** A condition that throws is a bug, and must not stop the others. */
  #found(condition: Condition): readonly Found[] {
    const { facts, settings, log } = this.#parts
    try {
      return condition.find(facts, settings)
    } catch (error) {
      if (!this.#logged.has(condition.name)) {
        log.error({ err: error, condition: condition.name }, 'a condition cannot be looked at')
      }
      this.#logged.add(condition.name)
      return []
    }
  }

  #bounded(findings: readonly Finding[]): readonly Finding[] {
    const max = alertLimits.findingsPerNodeMax
    const isTooMany = findings.length > max
    if (isTooMany && !this.#isTooManyLogged) {
      const fields = { findings: findings.length, max }
      this.#parts.log.warn(
        fields,
        'more is wrong than alerts tell of; the least severe are left out',
      )
    }
    this.#isTooManyLogged = isTooMany
    const rank = ({ severity }: Finding): number => severities.indexOf(severity)
    const sorted = findings.toSorted((a, b) => rank(a) - rank(b) || (keyOf(a) < keyOf(b) ? -1 : 1))
    if (!isTooMany) return sorted
    const shared = fairShare(
      Map.groupBy(sorted, ({ tenantId }) => tenantId),
      max,
    )
    return sorted.filter((finding) => shared.has(finding))
  }
}

/** Equal for findings about the same thing, on any node. */
export function keyOf({
  tenantId,
  condition,
  subject,
}: Pick<Finding, 'tenantId' | 'condition' | 'subject'>): string {
  return JSON.stringify([tenantId, condition, subject])
}

function findingOf(condition: Condition, found: Found): Finding {
  return {
    condition: condition.name,
    severity: found.severity ?? condition.severity,
    tenantId: found.tenantId,
    subject: plain(found.subject, alertLimits.titleLengthMax),
    isOfNode: condition.isOfNode,
    title: plain(found.title, alertLimits.titleLengthMax),
    detail: plain(found.detail, alertLimits.detailLengthMax),
  }
}

/** Makes one printable line: text of a commit or a file may hold anything. */
function plain(text: string, lengthMax: number): string {
  const line = text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()
  return line.length <= lengthMax ? line : `${line.slice(0, lengthMax - 1).toWellFormed()}…`
}
