// Names the origin or target of a flow of clients, as printed plans do.

/** A flow between pools has no member, and pools of other tenants have no name. */
export function sideOf(side: { readonly member: string; readonly pool: string } | null): string {
  if (side === null) return 'nobody'
  const { member, pool } = side
  if (member !== '') return member
  return pool === '' ? 'members of others' : `members of ${pool}`
}
