// Asks of each name that may differ what it has, and keeps what differs.
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

/** Ends early where the comparer may do no more. @param onName before each name */
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
    // A name that is gone is listed once, and not again for a family it had no address of.
    const shown = own.filter((change) => !isOfNothing(change))
    yield* shown.length > 0 ? shown : own
  }
}

/** From one way to answer nothing to another. */
function isOfNothing({ before, after, movement }: AnswerChange): boolean {
  const isEmpty = [before, after].every(
    ({ records, others }) => records.length + others.length === 0,
  )
  const { ipv4, ipv6 } = movement ?? {}
  const members = [...(ipv4?.members ?? []), ...(ipv6?.members ?? [])]
  // Members of others have no pool, either.
  return isEmpty && members.every(isNowhere)
}

/** What a name has on either side; addresses, where it is an alias, or has nothing. */
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
