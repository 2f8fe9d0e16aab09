// Decides whether a request of external-dns may change what is there: only what an ownership record
// gives to its sender. All else belongs to people.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { getOrInsert } from '#lib/sequence/get-or-insert.ts'
import { refused } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import { endpointTypes, keyOf, ownerOf } from './endpoint.ts'
import type { Endpoint } from './endpoint.ts'
import { claimKey, ownersIn } from './held.ts'
import type { Held } from './held.ts'
import { readOwnership } from './ownership.ts'

/** Owner ids that a request names, by `claimKey`. */
type Senders = ReadonlyMap<string, ReadonlySet<string>>

/** By the labels of its endpoints, and by the ownership records beside them. */
export function sendersIn(endpoints: Iterable<Endpoint>): Senders {
  const senders = new Map<string, Set<string>>()
  for (const endpoint of endpoints) {
    const { name, set, isOwnership } = endpoint
    const owners = isOwnership ? ownersIn(endpoint) : [ownerOf(endpoint)]
    for (const subject of isOwnership ? subjectsOf(endpoint) : [name]) {
      const key = claimKey(subject, set)
      const known = getOrInsert(senders, key, () => new Set())
      for (const owner of owners) if (owner !== '') known.add(owner)
    }
  }
  return senders
}

const subjectsOf = (endpoint: Endpoint): readonly string[] =>
  endpoint.targets.map((text) => subjectOf(endpoint, text))

/** Returns the name that an ownership record is about. */
export function subjectOf({ name, labels }: Endpoint, text: string): string {
  const owned = (labels['ownedRecord'] ?? '').toLowerCase().replace(/\.$/, '')
  return owned === '' ? readOwnership(name, text).of : `${owned}.`
}

export interface Asked {
  readonly endpoint: Endpoint
  /** Whether the record should be there. */
  readonly isThere: boolean
  readonly isNew: boolean
}

/**
 * @param next its replacement; undefined: none
 *
 * @returns undefined: the sender may have it
 */
export function claimRefusal(
  asked: Asked,
  next: Endpoint | undefined,
  held: Held,
  senders: Senders,
): Reply | undefined {
  const { endpoint, isThere, isNew } = asked
  const own = ownersBehind(endpoint, senders)
  if (!own.ok) return own.error
  const refusal = ownerRefusal(endpoint, held, own.value)
  if (refusal !== undefined) return refusal
  if (endpoint.isOwnership) return isThere ? adoptionRefusal(endpoint, held) : undefined
  const stored = held.byKey.get(keyOf(endpoint))
  if (stored === undefined) return undefined
  const owner = held.owners.get(claimKey(endpoint.name, endpoint.set))
  // The owner of an encrypted record is not known: what changes is external-dns' to judge.
  const isOwn = isNew ? own.value.some((one) => one !== '' && one === owner) : owner !== undefined
  if (!isOwn) return peoples(endpoint)
  return isThere || isSame(stored, endpoint) || (next !== undefined && isSame(stored, next))
    ? undefined
    : staleRefusal(endpoint, stored)
}

const isSame = (one: Endpoint, other: Endpoint): boolean =>
  JSON.stringify(one.targets) === JSON.stringify(other.targets)

/** Returns the owner ids that the sender has; '' stands for none. */
function ownersBehind(endpoint: Endpoint, senders: Senders): Result<readonly string[], Reply> {
  const { name, set, isOwnership } = endpoint
  const said = isOwnership ? ownersIn(endpoint) : [ownerOf(endpoint)].filter((one) => one !== '')
  if (said.length > 0) return ok(said)
  const subjects = isOwnership ? subjectsOf(endpoint) : [name]
  const beside = new Set(subjects.flatMap((of) => [...(senders.get(claimKey(of, set)) ?? [])]))
  if (beside.size > 1) {
    const list = [...beside].map((one) => `"${one}"`).join(' and ')
    const sentence = `${shownName(endpoint)} is given with the owner ids ${list}: name one`
    return err(refused(400, sentence))
  }
  return ok(beside.size === 0 ? [''] : [...beside])
}

/** A name with one set identifier belongs to one instance of external-dns, whatever its types. */
function ownerRefusal(endpoint: Endpoint, held: Held, own: readonly string[]): Reply | undefined {
  const { name, set, isOwnership } = endpoint
  const claims = isOwnership
    ? ownersOfStored(endpoint, held)
    : [held.owners.get(claimKey(name, set)) ?? '']
  const other = claims.find((one) => one !== '' && !own.includes(one))
  if (other === undefined) return undefined
  const who = own[0] === '' ? 'an external-dns without an owner' : `"${own[0] ?? ''}"`
  return refused(
    409,
    `${shownName(endpoint)} belongs to the external-dns with the owner id "${other}", ` +
      `not to ${who}: clusters that share a name have each a set identifier of their own`,
  )
}

function ownersOfStored(endpoint: Endpoint, { byKey }: Held): readonly string[] {
  const stored = byKey.get(keyOf(endpoint))
  return stored === undefined ? [] : ownersIn(stored)
}

/** An ownership record does not come to what people have written. */
function adoptionRefusal(endpoint: Endpoint, { owners, byKey }: Held): Reply | undefined {
  const { set } = endpoint
  for (const name of subjectsOf(endpoint)) {
    if (owners.has(claimKey(name, set))) continue
    for (const type of endpointTypes) {
      const key = keyOf({ ...endpoint, name, type, isOwnership: false })
      const stored = type === 'TXT' ? undefined : byKey.get(key)
      if (stored !== undefined) return peoples(stored)
    }
  }
  return undefined
}

function peoples(endpoint: Endpoint): Reply {
  return refused(
    409,
    `${endpoint.name.slice(0, -1)} has ${endpoint.type} records${ofSet(endpoint.set)} that no ` +
      'external-dns owns, as no ownership record (--registry=txt) says it: leave them to people, ' +
      'delete them first, or give the resource a set identifier',
  )
}

const shownMax = 5

/** Refuses a removal of targets that have changed since they were read. */
function staleRefusal(endpoint: Endpoint, { targets }: Endpoint): Reply {
  const more = targets.length > shownMax ? ' and others' : ''
  const list = targets.slice(0, shownMax).map((one) => one.slice(0, 100))
  return refused(
    409,
    `${shownName(endpoint)} has the ${endpoint.type} targets ${list.join(', ')}${more}, ` +
      'which are not those of the request: others have changed it; read the records again',
  )
}

const shownName = ({ name, set }: Endpoint): string => name.slice(0, -1) + ofSet(set)

/** Says which of several records of one name; '' where it has one alone. */
export function ofSet(set: string): string {
  return set === '' ? '' : ` with the set identifier "${set}"`
}
