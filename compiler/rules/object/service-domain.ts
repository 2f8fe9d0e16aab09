// Checks that a service's domain is a valid query name.
import { valueAt } from '#diagnostics/diagnostic.ts'
import { checkName } from '#compiler/values/names.ts'
import type { ObjectRule } from './object-rule.ts'

export const serviceDomain: ObjectRule<'Service'> = {
  name: 'service-domain',
  kind: 'Service',
  check({ spec }, report) {
    const { fault } = checkName(spec.domain, true)
    if (fault !== undefined) report(fault.code, valueAt('spec', 'domain'), fault)
  },
}
