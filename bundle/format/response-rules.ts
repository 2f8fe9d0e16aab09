// Reads the rows of response rules in a bundle, for answers and for display.
import { formatName } from '#dns/name.ts'
import { textOf, uidOf } from './bundle.ts'
import type { BundleColumns } from './bundle.ts'
import { ResponseCell } from './cells.ts'
import type { ResponseRuleModel } from './model.ts'

export const ResponseBits = {
  TriggerMask: 0xff,
  TargetShift: 8,
  Domain: 0x1_0000,
  ActionShift: 17,
  ActionMask: 3,
  /** Older programs take a rule with this bit for one of an unknown action. */
  Signed: 0x8_0000,
  /** Bits from here on are unused. */
  EndShift: 20,
} as const

export const ResponseAction = { NxDomain: 0, Passthru: 1, Cname: 2 } as const
/** By action number. */
export const responseActions = ['nxdomain', 'passthru', 'cname'] as const

/** A rule of a bundle that has been checked. */
export function responseRuleAt(bundle: BundleColumns, rule: number): ResponseRuleModel {
  const { responseRow, responseNames } = bundle
  const at = rule * ResponseCell.Words
  const bits = responseRow[at + ResponseCell.Bits]!
  const action = responseActions[(bits >> ResponseBits.ActionShift) & ResponseBits.ActionMask]!
  return {
    uid: uidOf(bundle.responseUid, rule),
    triggerType: (bits & ResponseBits.Domain) === 0 ? 'exact' : 'domain',
    trigger: formatName(responseNames, responseRow[at + ResponseCell.Trigger]),
    action,
    target:
      action === 'cname' ? formatName(responseNames, responseRow[at + ResponseCell.Target]) : '',
    signed: (bits & ResponseBits.Signed) !== 0,
    source: textOf(bundle, responseRow[at + ResponseCell.Source]!),
  }
}
