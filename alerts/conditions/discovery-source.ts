// Condition: a source of discovery does not say what there is, or its members are held, for long.
import type { Condition } from '#alerts/condition.ts'
import { operatorId } from '#state/ports/alerts.ts'

export const discoverySource: Condition = {
  name: 'discovery-source',
  severity: 'warning',
  audience: 'operator',
  isOfNode: true,
  // As long as the age that the metrics are to be watched for.
  holdMs: 600_000,
  clearMs: 0,
  says: 'For ten minutes a source of discovery fails, or members that it does not find are held',
  find: (facts) =>
    facts.discoverySources().flatMap(({ name, state, error, held }) => {
      const about = { tenantId: operatorId, subject: `source ${name}`, detail: `${error}.` }
      if (state === 'failing') {
        return [{ ...about, title: `members cannot be discovered by ${name}` }]
      }
      if (state !== 'held') return []
      const detail =
        `${error}. If they are gone for good, let them go: ` +
        `POST /api/v1/discovery/sources/${name}/accept.`
      return [{ ...about, title: `${held} members of ${name} are not found, and held`, detail }]
    }),
}
