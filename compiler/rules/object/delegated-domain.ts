// Checks that a delegated domain is a valid query name.
import { valueAt } from '#diagnostics/diagnostic.ts'
import { checkHostName } from '#compiler/values/names.ts'
import type { ObjectRule } from './object-rule.ts'

export const delegatedDomain: ObjectRule<'DelegatedDomain'> = {
  name: 'delegated-domain',
  kind: 'DelegatedDomain',
  check({ spec }, report) {
    const { fault } = checkHostName(spec.domain)
    if (fault !== undefined) report(fault.code, valueAt('spec', 'domain'), fault)
  },
}
