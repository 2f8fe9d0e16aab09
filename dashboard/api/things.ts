// The words by which people know pools, members and services, beside the ids that the API takes.
import { allMembers, allPools, allServices, poolOf, targetOf } from './live.ts'

export interface Thing {
  /** What is written. */
  readonly id: string
  readonly words: string
}

const poolThings = (): Thing[] => allPools().map(({ id, name }) => ({ id, words: `pool ${name}` }))

const memberThings = (): Thing[] =>
  allMembers().map((member) => {
    const { id, port, name, poolId } = member
    const named = name === '' ? '' : ` (${name})`
    return { id, words: `${targetOf(member)}:${port}${named} of ${poolOf(poolId)?.name ?? poolId}` }
  })

/** By the field that takes them. */
const fields: Readonly<Record<string, () => Thing[]>> = {
  poolId: poolThings,
  memberId: memberThings,
  resourceId: () => [...poolThings(), ...memberThings()],
  onAllDown: () => allPools().map(({ name }) => ({ id: `pool:${name}`, words: `pool ${name}` })),
  actionTarget: () => allServices().map(({ name, domain }) => ({ id: domain, words: name })),
}

/** What a field may name of all that is there; empty where it names nothing. */
export const thingsFor = (field: string): Thing[] =>
  Object.hasOwn(fields, field) ? fields[field]!() : []

/** What an id stands for; empty where nobody knows. */
export const wordsOf = (id: string): string =>
  [...poolThings(), ...memberThings()].find((thing) => thing.id === id)?.words ?? ''
