// Builds the step of a way that looks at the client in one range table alone.
import { rowOfClient, valueOfRow } from '#routing/chain/lookup-client.ts'
import { needAlike } from '#routing/chain/scope.ts'
import type { Likeness } from '#routing/chain/scope.ts'
import type { Step, TableStep } from './way.ts'

export function createTableStep(byTable: TableStep): Step {
  const { ranges, kind, actionFor, act } = byTable
  const likeness: Likeness = {
    kind,
    isAlike: (chain, value) => actionFor(chain, value) === chain.picked,
  }
  const step: Step = (chain) => {
    const row = rowOfClient(ranges, chain)
    chain.picked = actionFor(chain, valueOfRow(ranges, chain, row))
    needAlike(chain, ranges, row, likeness)
    act(chain)
  }
  return Object.assign(step, { byTable })
}
