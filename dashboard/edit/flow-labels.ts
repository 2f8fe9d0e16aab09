// Where clients of a flow come from or go to, in the words of a printed plan.

/** A flow from pool to pool has no member; of the pools of others nothing is told. */
export function sideOf(side: { readonly member: string; readonly pool: string } | null): string {
  if (side === null) return 'nobody'
  const { member, pool } = side
  if (member !== '') return member
  return pool === '' ? 'members of others' : `members of ${pool}`
}
