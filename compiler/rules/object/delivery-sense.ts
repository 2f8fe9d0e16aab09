// Checks that the waves of a delivery rise to all nodes, and that each can be read.
import { valueAt } from '#diagnostics/diagnostic.ts'
import { readHold, readLabels } from '#schemas/forms/wave.ts'
import type { ObjectRule } from './object-rule.ts'

export const deliverySense: ObjectRule<'Delivery'> = ({ spec: { waves, gates } }, report) => {
  let reached = 0
  for (const [i, { nodes, percent, hold, shadow }] of waves.entries()) {
    const place = valueAt('spec', 'waves', i)
    if ((nodes === undefined) === (percent === undefined)) {
      const args = [nodes === undefined ? 'neither nodes nor percent' : 'nodes and percent']
      report('delivery-wave', place, { args })
    }
    if (nodes !== undefined && readLabels(nodes) === undefined) {
      report('delivery-labels', valueAt('spec', 'waves', i, 'nodes'), { args: [nodes] })
    }
    const taken = waves.slice(0, i).findIndex((before) => hasAll(before.nodes, nodes))
    if (taken >= 0) {
      const args = [nodes ?? '', String(taken + 1)]
      report('delivery-no-nodes', valueAt('spec', 'waves', i, 'nodes'), { args })
    }
    if (readHold(hold) === undefined) {
      report('delivery-duration', valueAt('spec', 'waves', i, 'hold'), { args: [hold] })
    }
    if (readHold(shadow) === undefined) {
      report('delivery-duration', valueAt('spec', 'waves', i, 'shadow'), { args: [shadow] })
    }
    if (percent === undefined) continue
    if (percent <= reached) {
      const args = [String(percent), String(reached)]
      report('delivery-not-rising', valueAt('spec', 'waves', i, 'percent'), { args })
    }
    reached = Math.max(reached, percent)
  }
  if (waves.at(-1)?.percent !== 100) {
    report('delivery-never-ends', valueAt('spec', 'waves', waves.length - 1))
  }
  if (gates.p99 !== undefined && readHold(gates.p99) === undefined) {
    report('delivery-duration', valueAt('spec', 'gates', 'p99'), { args: [gates.p99] })
  }
}

/** Whether every node with the labels of `text` has those of `before`. */
function hasAll(before: string | undefined, text: string | undefined): boolean {
  const [some, all] = [readLabels(before ?? ''), readLabels(text ?? '')]
  if (some === undefined || all === undefined) return false
  return Object.entries(some).every(([key, value]) => all[key] === value)
}
