// Compares the answers of each name that may differ, and keeps those that do.
import { NodeFlag } from '#bundle/format/cells.ts'
import { nodeFlags } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { RrType } from '#dns/rrtype.ts'
import type { Comparer } from './compare.ts'
import { typesOf } from '#judge/rows/names.ts'
import type { Differences, NameDifference } from '#judge/rows/names.ts'
import { answeringNode } from '#judge/sides/answering-node.ts'
import { isNowhere } from '#judge/sides/outcome.ts'
import type { AnswerChange } from '#judge/document/model.ts'

/**
 * Ends early when the comparer has used up its limits.
 *
 * @param onName called before each name
 */
export function* changesOf(
  comparer: Comparer,
  base: Bundle,
  head: Bundle,
  { names }: Differences,
  onName: () => void = () => undefined,
): Generator<AnswerChange> {
  for (const difference of names) {
    onName()
    const own: AnswerChange[] = []
    for (const type of askedTypes(base, head, difference)) {
      if (comparer.isSpent) return
      const change = comparer.compare(difference.qname, type)
      if (change !== null) own.push(change)
    }
    // A removed name is listed once, not again for a family in which it had no address.
    const shown = own.filter((change) => !isOfNothing(change))
    yield* shown.length > 0 ? shown : own
  }
}

/** Whether the answer changes from one way of answering nothing to another. */
function isOfNothing({ before, after, movement }: AnswerChange): boolean {
  const isEmpty = [before, after].every(
    ({ records, others }) => records.length + others.length === 0,
  )
  const { ipv4, ipv6 } = movement ?? {}
  const members = [...(ipv4?.members ?? []), ...(ipv6?.members ?? [])]
  // Members of other tenants are shown without a pool, too.
  return isEmpty && members.every(isNowhere)
}

/** The types that a name has on either side; addresses for an alias and for an empty name. */
function askedTypes(base: Bundle, head: Bundle, { qname }: NameDifference): readonly number[] {
  const [was, is] = [answeringNode(base, qname), answeringNode(head, qname)]
  const types = new Set([...typesOf(base, was), ...typesOf(head, is)])
  if (types.size === 0) return [RrType.A]
  const isAlias = [
    [base, was],
    [head, is],
  ] as const
  if (isAlias.some(([bundle, node]) => node >= 0 && hasCname(bundle, node))) {
    types.add(RrType.A).add(RrType.AAAA)
  }
  return [...types].sort((one, other) => one - other)
}

function hasCname(bundle: Bundle, node: number): boolean {
  return (nodeFlags(bundle, node) & NodeFlag.HasCname) !== 0
}
