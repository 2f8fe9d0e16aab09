// Checks a node's report of unused objects, as the API returns it.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { plain } from '#cli/terminal/paint.ts'
import { isTrueAt, numberAt, textAt } from '#cli/watch/json-fields.ts'

export interface UnusedThing {
  readonly kind: string
  readonly id: string
  readonly name: string
  readonly path: string
  readonly note: string
  /** Unix seconds; null: not since it exists. */
  readonly lastUsed: number | null
}

export interface TtlMisfit {
  readonly id: string
  readonly name: string
  readonly path: string
  readonly ttl: number
  readonly advisedTtl: number
  readonly healthChanges: number
  /** null: not counted. */
  readonly commits: number | null
}

export interface UseReport {
  readonly days: number
  /** Unix seconds; null: nothing was counted yet. */
  readonly countedSince: number | null
  readonly isWhole: boolean
  readonly unknown: readonly { readonly what: string; readonly reason: string }[]
  readonly used: number
  readonly unused: readonly UnusedThing[]
  readonly unusedLeftOut: number
  readonly ttls: readonly TtlMisfit[]
}

/** Limit of the API. */
const rowsMax = 10_000

/** Errors: a sentence. */
export function readUseReport(answer: unknown): Result<UseReport, string> {
  const days = numberAt(answer, 'days')
  if (days === null) return err('this is no answer of /api/v1/unused')
  return ok({
    days,
    countedSince: numberAt(answer, 'countedSince'),
    isWhole: isTrueAt(answer, 'isWhole'),
    unknown: rowsAt(answer, 'unknown').map((one) => ({
      ...{ what: textAt(one, 'what'), reason: textAt(one, 'reason') },
    })),
    used: numberAt(answer, 'used') ?? 0,
    unused: rowsAt(answer, 'unused').map((one) => ({
      ...{ kind: textAt(one, 'kind'), id: textAt(one, 'id'), name: textAt(one, 'name') },
      ...{ path: textAt(one, 'path'), note: textAt(one, 'note') },
      lastUsed: numberAt(one, 'lastUsed'),
    })),
    unusedLeftOut: numberAt(answer, 'unusedLeftOut') ?? 0,
    ttls: rowsAt(answer, 'ttls').map((one) => ({
      ...{ id: textAt(one, 'id'), name: textAt(one, 'name'), path: textAt(one, 'path') },
      ...{ ttl: numberAt(one, 'ttl') ?? 0, advisedTtl: numberAt(one, 'advisedTtl') ?? 0 },
      ...{ healthChanges: numberAt(one, 'healthChanges') ?? 0 },
      commits: numberAt(one, 'commits'),
    })),
  })
}

function rowsAt(answer: unknown, field: string): readonly unknown[] {
  const found = (answer as Readonly<Record<string, unknown>>)[field]
  return Array.isArray(found) ? (found as unknown[]).slice(0, rowsMax) : []
}

/** Remarks, a line each: since when it was counted, what is unknown, what is on standby. */
export function remarksOn(report: UseReport): readonly string[] {
  const { days, countedSince, isWhole, unknown, unused, unusedLeftOut } = report
  const lines = unknown.map(({ what, reason }) => `not known of ${what}: ${reason}`)
  if (countedSince === null) lines.unshift('no node has counted yet: nothing is called unused')
  else if (!isWhole) {
    const since = new Date(countedSince * 1000).toISOString().slice(0, 16)
    lines.unshift(
      `counted since ${since}Z, and not by all nodes for ${days} days: nothing is called unused; ` +
        'a shorter time may be asked for with --days',
    )
  }
  const waiting = unused.filter(isWaiting).length
  if (waiting > 0)
    lines.push(`${waiting} more members wait for others to fail, and were not needed`)
  if (unusedLeftOut > 0)
    lines.push(`${unusedLeftOut} more are unused, which the node does not list`)
  return lines.map(plain)
}

/** Standby objects are meant to be unused. */
export const isWaiting = ({ note }: Pick<UnusedThing, 'note'>): boolean => note === 'standby'
