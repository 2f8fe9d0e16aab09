// Names pools, members and services for people, beside the ids that the API takes.
import { allMembers, allPools, allServices, memberOf, poolOf, targetOf } from './live.ts'
import type { Member, Pool } from './live.ts'

export interface Thing {
  /** What is written. */
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

/** By the field that takes them. */
const fields: Readonly<Record<string, () => Thing[]>> = {
  poolId: poolThings,
  memberId: memberThings,
  resourceId: () => [...poolThings(), ...memberThings()],
  onAllDown: () => allPools().map((pool) => ({ id: `pool:${pool.name}`, words: poolLabel(pool) })),
  actionTarget: () => allServices().map(({ name, domain }) => ({ id: domain, words: name })),
}

/** What a field may name of all that is there; empty where it names nothing. */
export const thingsFor = (field: string): Thing[] =>
  Object.hasOwn(fields, field) ? fields[field]!() : []

/** What an id stands for; empty where nobody knows. */
export function labelOfId(id: string): string {
  const pool = poolOf(id)
  if (pool !== undefined) return poolLabel(pool)
  const member = memberOf(id)
  return member === undefined ? '' : memberLabel(member)
}
