// Checks zones that come from other servers: what gives way to what is declared here, and records
// of a transfer without a zone that is transferred.
import { placeOfRrset } from '#compiler/lower/record-plan.ts'
import { isTransferred } from '#compiler/lower/inbound-records.ts'
import { keyIn } from '#compiler/tree/tree.ts'
import { readRecords } from '#compiler/values/record-sets.ts'
import type { TreeRule } from './tree-rule.ts'

/** Notes records of a transfer in whose place a service, or records of people, are answered. */
export const yieldingRecords: TreeRule = ({ records }, report) => {
  for (const { rrset, to } of records?.yielding ?? []) {
    const detail = { args: [rrset.model.name, rrset.typeName], other: to }
    report('record-gives-way', placeOfRrset(rrset, 'name'), detail)
  }
}

/** Warns of records that no transfer brings up to date any more. */
export const leftTransfers: TreeRule = ({ tree, zones }, report) => {
  if (zones === undefined) return
  for (const entry of tree.of.Records) {
    const { zone } = isTransferred(entry) ? readRecords(entry.object.spec) : {}
    const at = zone === undefined ? undefined : zones.declaredAt.get(zone)
    if (zone === undefined || at === undefined || zones.zones[at]?.isInbound === true) continue
    report('transfer-left', keyIn(entry, 'spec', 'transfer'), { args: [zone] })
  }
}
