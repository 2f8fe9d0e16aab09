// Points out balanced names whose answers resolvers keep for long after a member has failed.
import { ttlJumpFreeSeconds } from '#schemas/objects/guardrails.ts'
import { valueAt } from '#diagnostics/diagnostic.ts'
import type { ObjectRule } from './object-rule.ts'

export const serviceTtl: ObjectRule<'Service'> = {
  name: 'service-ttl',
  kind: 'Service',
  check({ spec: { pool, ttl } }, report) {
    if (pool === null || ttl <= ttlJumpFreeSeconds) return
    report('ttl-long', valueAt('spec', 'ttl'), { args: [String(ttl)] })
  },
}
