// Checks the warm-up and the RUM address of a member.
import { valueAt } from '#diagnostics/diagnostic.ts'
import type { ObjectRule } from './object-rule.ts'

export const memberExtras: ObjectRule<'Pool'> = {
  name: 'member-extras',
  kind: 'Pool',
  check({ spec }, report) {
    for (const [i, { warmupThreshold, rumUrl }] of spec.members.entries()) {
      if (warmupThreshold > 0 && spec.healthCheck === undefined) {
        const place = valueAt('spec', 'members', i, 'warmupThreshold')
        report('warmup-without-check', place, { args: [String(warmupThreshold)] })
      }
      // The schema has looked at how it begins.
      if (rumUrl !== '' && !URL.canParse(rumUrl)) {
        report('rum-url-invalid', valueAt('spec', 'members', i, 'rumUrl'), { args: [rumUrl] })
      }
    }
  },
}
