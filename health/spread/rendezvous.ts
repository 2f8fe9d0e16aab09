// Rendezvous hashing: in which order nodes are to probe a member. The same on each node, whatever
// it was told in whatever order, and a node that comes or goes moves its own members alone.
import { hash32, mix32 } from './hash32.ts'

/** A node with what is computed of its name once. */
export interface RankedNode {
  readonly name: string
  readonly hash: number
}

export function rankedNode(name: string): RankedNode {
  return { name, hash: hash32(name) }
}

/** @param key any name of the member, such as its `targetKey` */
export function memberHash(key: string): number {
  return hash32(key)
}

/** Whether `a` comes before `b` for the member of this hash. */
export function comesBefore(a: RankedNode, b: RankedNode, member: number): boolean {
  const weightOfA = weight(a, member)
  const weightOfB = weight(b, member)
  return weightOfA === weightOfB ? a.name < b.name : weightOfA > weightOfB
}

/** How many of the others come before `own`. */
export function countBefore(
  own: RankedNode,
  others: readonly RankedNode[],
  member: number,
): number {
  let count = 0
  for (const other of others) if (comesBefore(other, own, member)) count++
  return count
}

/**
 * Two nodes differ in the same bits of what is mixed for every member, and mixing is one to one: of
 * each pair, one comes first for half of all members.
 */
function weight({ hash }: RankedNode, member: number): number {
  return mix32(hash ^ member)
}
