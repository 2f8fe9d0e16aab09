// Decides what a request of external-dns means: for each name, type and set identifier, whether it
// is to be there, and how; and whether its sender owns the name.
import { isInDomains } from '#config/record-rights.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { refused } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import { keyOf, ownerOf, readEndpoint } from './endpoint.ts'
import type { Endpoint, WireChanges, WireEndpoint } from './endpoint.ts'
import { claimKey, ownersIn } from './held.ts'
import type { Held } from './held.ts'
import { levelled } from './level.ts'

export interface Wanted {
  /** As it is to be, or as it was. */
  readonly endpoint: Endpoint
  readonly isThere: boolean
}

/** By `keyOf`. */
export type WantedByKey = ReadonlyMap<string, Wanted>

/** Errors: the refusal of the whole request. */
export function wantedBy(
  { create, updateOld, updateNew, delete: gone }: WireChanges,
  held: Held,
  tenant: string,
): Result<WantedByKey, Reply> {
  const wanted = new Map<string, Wanted>()
  // Records that are deleted, or that an update gives another type, count as gone.
  const steps = [
    { list: updateOld, field: 'updateOld', isThere: false, isNew: false },
    { list: gone, field: 'delete', isThere: false, isNew: false },
    { list: updateNew, field: 'updateNew', isThere: true, isNew: false },
    { list: create, field: 'create', isThere: true, isNew: true },
  ]
  for (const { list, field, isThere, isNew } of steps) {
    for (const [i, wire] of list.entries()) {
      const read = readAt(wire, held, tenant)
      if (!read.ok) return err(read.error(`${field}.${i}`))
      const endpoint = read.value
      const key = keyOf(endpoint)
      const conflict =
        ownerRefusal(endpoint, held) ?? (isNew ? takenRefusal(endpoint, held) : undefined)
      const twice = conflict ?? (isThere ? twiceRefusal(endpoint, wanted.get(key)) : undefined)
      if (twice !== undefined) return err(twice)
      wanted.set(key, { endpoint, isThere })
    }
  }
  return ok(wanted)
}

type Refusal = (place: string) => Reply

function readAt(wire: WireEndpoint, held: Held, tenant: string): Result<Endpoint, Refusal> {
  const invalid =
    (sentence: string): Refusal =>
    (place) =>
      refused(400, `${place}: ${sentence}`)
  const read = readEndpoint(wire)
  if (!read.ok) return err(invalid(read.error))
  const { name } = read.value
  if (!isInDomains(held.domains, name)) {
    const own = [...held.domains.own].slice(0, domainsShownMax).map((one) => one.slice(0, -1))
    const list = own.length === 0 ? 'which has none' : `such as ${own.join(', ')}`
    const sentence =
      `${name.slice(0, -1)} is in no domain of tenant "${tenant}", ${list}: ` +
      'give external-dns a --domain-filter, or declare the domain as delegated'
    return err(() => refused(403, sentence))
  }
  const level = levelled(read.value, held)
  return level.ok ? level : err(invalid(level.error))
}

const domainsShownMax = 5

/** A name with one set identifier belongs to one instance of external-dns, whatever its types. */
function ownerRefusal(endpoint: Endpoint, held: Held): Reply | undefined {
  const { name, set, isOwnership } = endpoint
  const claims = isOwnership
    ? ownersOfStored(endpoint, held)
    : [held.owners.get(claimKey(name, set))]
  const own = isOwnership ? ownersIn(endpoint) : [ownerOf(endpoint)]
  // An encrypted record says no owner, and a registry outside of DNS leaves none here.
  const other = claims.find((one) => one !== undefined && !own.includes(one))
  if (other === undefined || own.length === 0) return undefined
  const who = own[0] === '' ? 'an external-dns without an owner' : `"${own[0] ?? ''}"`
  return refused(
    409,
    `${name.slice(0, -1)}${ofSet(set)} belongs to the external-dns with the owner id "${other}", ` +
      `not to ${who}: clusters that share a name have each a set identifier of their own`,
  )
}

const ofSet = (set: string): string => (set === '' ? '' : ` with the set identifier "${set}"`)

function ownersOfStored(endpoint: Endpoint, { byKey }: Held): readonly string[] {
  const stored = byKey.get(keyOf(endpoint))
  return stored === undefined ? [] : ownersIn(stored)
}

/**
 * Refuses to create records that exist already, unless they are of the registry, or their name
 * belongs to the sender.
 */
function takenRefusal(endpoint: Endpoint, held: Held): Reply | undefined {
  const { name, type, set, isOwnership } = endpoint
  const stored = held.byKey.get(keyOf(endpoint))
  if (stored === undefined || isOwnership) return undefined
  const owner = held.owners.get(claimKey(name, set))
  if (owner !== undefined && owner === ownerOf(endpoint)) return undefined
  return refused(
    409,
    `${name.slice(0, -1)} has ${type} records${ofSet(set)} that no external-dns owns: delete ` +
      'them first, or give the resource a set identifier',
  )
}

function twiceRefusal(endpoint: Endpoint, before: Wanted | undefined): Reply | undefined {
  if (before?.isThere !== true) return undefined
  const isSame = JSON.stringify(before.endpoint.targets) === JSON.stringify(endpoint.targets)
  if (isSame) return undefined
  const what = `${endpoint.name.slice(0, -1)} ${endpoint.type}${ofSet(endpoint.set)}`
  return refused(400, `${what} is given twice, with different targets`)
}
