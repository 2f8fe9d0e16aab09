// Names pools, members and services for people, beside the ids of the API.
import { allMembers, allPools, allServices, memberOf, poolOf, targetOf } from './live.ts'
import type { Member, Pool } from './live.ts'

interface Thing {
  /** The id that is written. */
  readonly id: string
  readonly words: string
}

const poolLabel = ({ name }: Pool): string => `pool ${name}`

function memberLabel(member: Member): string {
  const { port, name, poolId } = member
  const named = name === '' ? '' : ` (${name})`
  return `${targetOf(member)}:${port}${named} of ${poolOf(poolId)?.name ?? poolId}`
}

const poolThings = (): Thing[] =>
  allPools().map((pool) => ({ id: pool.id, words: poolLabel(pool) }))

const memberThings = (): Thing[] =>
  allMembers().map((member) => ({ id: member.id, words: memberLabel(member) }))

/** By the field that refers to them. */
const fields: Readonly<Record<string, () => Thing[]>> = {
  poolId: poolThings,
  memberId: memberThings,
  resourceId: () => [...poolThings(), ...memberThings()],
  onAllDown: () => allPools().map((pool) => ({ id: `pool:${pool.name}`, words: poolLabel(pool) })),
  actionTarget: () => allServices().map(({ name, domain }) => ({ id: domain, words: name })),
}

/** Objects that a field may refer to; empty: it refers to none. */
export const thingsFor = (field: string): Thing[] =>
  Object.hasOwn(fields, field) ? fields[field]!() : []

/** Name of the object with an id; empty: unknown. */
export function labelOfId(id: string): string {
  const pool = poolOf(id)
  if (pool !== undefined) return poolLabel(pool)
  const member = memberOf(id)
  return member === undefined ? '' : memberLabel(member)
}
