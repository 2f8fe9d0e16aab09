// Checks that a health check of type script has exactly one script.
import { keyAt, valueAt } from '#diagnostics/diagnostic.ts'
import type { ObjectRule } from './object-rule.ts'

export const healthCheckScript: ObjectRule<'Pool'> = {
  name: 'health-check-script',
  kind: 'Pool',
  check({ spec: { healthCheck: check } }, report) {
    if (check?.type !== 'script') return
    const { scriptContent, scriptPath } = check
    if (scriptContent === '' && scriptPath === '') {
      report('health-check-script-missing', valueAt('spec', 'healthCheck', 'type'))
    } else if (scriptContent !== '' && scriptPath !== '') {
      report('health-check-script-twice', keyAt('spec', 'healthCheck', 'scriptPath'))
    }
  },
}
