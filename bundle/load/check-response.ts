// Checks response rules and their index, so that the answer path need not.
import { foldTable, nameLimits } from '#dns/name.ts'
import type { BundleColumns } from '#bundle/format/bundle.ts'
import { ResponseCell } from '#bundle/format/cells.ts'
import { faultOfIndex } from '#bundle/format/hash-index.ts'
import type { Manifest } from '#bundle/format/manifest.ts'
import { ResponseAction, responseActions, ResponseBits } from '#bundle/format/response-rules.ts'

export function checkResponseRows(c: BundleColumns, { counts }: Manifest): string | undefined {
  const texts = c.stringOffset.length - 1
  for (let rule = 0; rule < counts.responseRules; rule++) {
    const at = rule * ResponseCell.Words
    const bits = c.responseRow[at + ResponseCell.Bits]!
    const triggerBytes = bits & ResponseBits.TriggerMask
    const targetBytes = (bits >>> ResponseBits.TargetShift) & ResponseBits.TriggerMask
    const action = (bits >>> ResponseBits.ActionShift) & ResponseBits.ActionMask
    if (action >= responseActions.length || bits >>> ResponseBits.EndShift !== 0)
      return `response rule ${rule} has no such action`
    if (!isFoldedName(c.responseNames, c.responseRow[at + ResponseCell.Trigger]!, triggerBytes)) {
      return `response rule ${rule} has no trigger`
    }
    const isAlias = action === ResponseAction.Cname
    const hasTarget =
      isAlias &&
      isFoldedName(c.responseNames, c.responseRow[at + ResponseCell.Target]!, targetBytes)
    if (isAlias !== hasTarget) return `response rule ${rule} has no target`
    if (c.responseRow[at + ResponseCell.Source]! >= texts)
      return `response rule ${rule} has no source`
  }
  return undefined
}

/** Requires at least one label: a rule for the root would answer everything. */
export function isFoldedName(names: Uint8Array, start: number, length: number): boolean {
  const end = start + length
  if (length < 3 || end > names.length) return false
  let at = start
  while (at < end && names[at] !== 0 && names[at]! <= nameLimits.labelBytesMax) {
    at += names[at]! + 1
  }
  if (at !== end - 1 || names[at] !== 0) return false
  for (let i = start; i < end; i++) if (foldTable[names[i]!] !== names[i]) return false
  return true
}

export function checkResponseIndex(c: BundleColumns, { nameSeed }: Manifest): string | undefined {
  const { responseIndex: index, responseRow: rows, responseNames: names } = c
  if (rows.length === 0)
    return index.length === 0 ? undefined : 'there is an index of no response rules'
  const { Words: words, Trigger: cell } = ResponseCell
  const triggers = { names, rows, words, cell }
  return faultOfIndex(index, triggers, nameSeed, 'the index of response rules', 'response rule')
}
