// Checks the names, types and values of records, each fault at its column.
import { readRecords } from '#compiler/values/record-sets.ts'
import type { ObjectRule } from './object-rule.ts'

export const recordValues: ObjectRule<'Records'> = {
  name: 'record-values',
  kind: 'Records',
  check({ spec }, report) {
    readRecords(spec, report)
  },
}
