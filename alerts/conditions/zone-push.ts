// Condition: a zone is not pushed to a target, the push is held, or the target drifts, for long.
import type { Condition, Found } from '#alerts/condition.ts'
import type { ZonePushFacts } from '#alerts/facts.ts'
import { operatorId } from '#state/ports/alerts.ts'

export const zonePush: Condition = {
  name: 'zone-push',
  severity: 'warning',
  audience: 'operator',
  isOfNode: false,
  // Two tries, and a person who looks at a plan.
  holdMs: 600_000,
  clearMs: 0,
  says: 'For ten minutes a push of a zone fails or is held, or others changed the zone there',
  find: (facts) => facts.zonePushes().flatMap(ofPush),
}

function ofPush({ name, zone, fault, held, drift }: ZonePushFacts): Found[] {
  const about = { tenantId: operatorId, subject: `zone push ${name}` }
  if (fault !== '') {
    return [{ ...about, title: `${zone} is not pushed to ${name}`, detail: `${fault}.` }]
  }
  if (held !== null) {
    const detail =
      `It would delete ${held.deletes} records; the limit is ${held.limit}. ` +
      `Look at it with "gslbd push plan ${name}".`
    return [{ ...about, title: `the push of ${zone} to ${name} is held`, detail }]
  }
  if (drift === 0) return []
  const title = `${drift} records of ${zone} at ${name} are not as they should be`
  const detail = `Others changed them there. Look at it with "gslbd push plan ${name}".`
  return [{ ...about, title, detail }]
}
