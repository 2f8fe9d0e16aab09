// Condition: a geo database is old, or its file cannot be used.
import type { Condition } from '#alerts/condition.ts'
import { operatorId } from '#state/ports/alerts.ts'

const dayMs = 86_400_000

export const geoDatabaseStale: Condition = {
  name: 'geo-database-stale',
  severity: 'warning',
  audience: 'operator',
  isOfNode: true,
  holdMs: 0,
  clearMs: 0,
  says: 'A geo database is older than `alerts.geoMaxAge`, or its file cannot be used',
  find: (facts, { geoMaxAgeMs }) =>
    facts.geo().flatMap(({ setting, error, builtAtMs }) => {
      const about = { tenantId: operatorId, subject: setting }
      if (error !== '') {
        const title = `the database of ${setting} cannot be used`
        return [{ ...about, title, detail: `${error} What was loaded before stays in use.` }]
      }
      const ageMs = builtAtMs === null ? 0 : facts.nowMs() - builtAtMs
      if (ageMs <= geoMaxAgeMs) return []
      const days = Math.floor(ageMs / dayMs)
      const title = `the database of ${setting} is ${days} days old`
      return [{ ...about, title, detail: 'Get a newer one; it is read when its file changes.' }]
    }),
}
