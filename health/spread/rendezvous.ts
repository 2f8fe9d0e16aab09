// Orders the nodes that are to probe a member, by rendezvous hashing: the order is equal on each
// node, and a node that joins or leaves moves only its own members.
import { hash32, mix32 } from './hash32.ts'

/** A node, with the hash of its name. */
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

/** Whether `a` precedes `b` for the member with this hash. */
export function comesBefore(a: RankedNode, b: RankedNode, member: number): boolean {
  const weightOfA = weight(a, member)
  const weightOfB = weight(b, member)
  return weightOfA === weightOfB ? a.name < b.name : weightOfA > weightOfB
}

/** How many of the others precede `own`. */
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
 * Two nodes differ in the same bits of the input for every member, and mixing is one to one: in
 * each pair, either node is first for half of all members.
 */
function weight({ hash }: RankedNode, member: number): number {
  return mix32(hash ^ member)
}
