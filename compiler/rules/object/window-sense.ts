// Checks that a maintenance window ends after it begins.
import { readInstant } from '#schemas/forms/instant.ts'
import { valueAt } from '#diagnostics/diagnostic.ts'
import { checkInstant } from '#compiler/values/instants.ts'
import type { ObjectRule } from './object-rule.ts'

export const windowSense: ObjectRule<'MaintenanceWindow'> = {
  name: 'window-sense',
  kind: 'MaintenanceWindow',
  check({ spec: { startAt, endAt } }, report) {
    const place = valueAt('spec', 'endAt')
    const isStart = checkInstant(startAt, valueAt('spec', 'startAt'), report)
    if (!checkInstant(endAt, place, report) || !isStart) return
    const isReversed = readInstant(endAt).atMs! <= readInstant(startAt).atMs!
    if (isReversed) report('window-reversed', place, { args: [endAt] })
  },
}
