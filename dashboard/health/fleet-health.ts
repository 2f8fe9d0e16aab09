// Sums up how the other nodes of the fleet are: how many are well, and what is wrong with the rest.

/** The part of GET /api/v1/cluster/nodes that matters here. */
export interface FleetNode {
  readonly name: string
  readonly isSelf: boolean
  readonly isMissing: boolean
  readonly isKnown: boolean
  readonly health: { readonly status: string; readonly reasons: readonly string[] }
  readonly drift: readonly string[]
}

interface FleetHealth {
  readonly figure: string
  readonly hint: string
}

/** A tile has room for these; the list of nodes has all. */
const namedMax = 3

/** @returns null: there is no other node, or none that counts */
export function fleetHealthOf(nodes: readonly FleetNode[]): FleetHealth | null {
  const others = nodes.filter(({ isSelf, isKnown }) => !isSelf && isKnown)
  if (others.length === 0) return null
  const faults = others.map(faultOf).filter((fault) => fault !== '')
  const left = faults.length - namedMax
  const named = [...faults.slice(0, namedMax), ...(left > 0 ? [`${left} more`] : [])]
  return {
    figure: `${others.length - faults.length} of ${others.length} well`,
    hint: named.join('; ') || 'They answer, and their parts are sound.',
  }
}

/** Name and fault in a few words; empty: the node is well. */
function faultOf({ name, isMissing, health, drift }: FleetNode): string {
  if (isMissing) return `${name} is silent`
  const { status, reasons } = health
  const codes = [...reasons, ...drift].join(', ')
  if (status !== 'ok') return `${name} is ${status}${codes === '' ? '' : ` (${codes})`}`
  return drift.length === 0 ? '' : `${name} differs (${codes})`
}
