// Decides what a request of external-dns means: for each name, type and set identifier, whether it
// is to be there, and how; and whether its sender owns the name.
import { isInDomains } from '#config/record-rights.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { refused } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import { claimRefusal, ofSet, sendersIn } from './claims.ts'
import type { Asked } from './claims.ts'
import { keyOf, readEndpoint } from './endpoint.ts'
import type { Endpoint, WireChanges, WireEndpoint } from './endpoint.ts'
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
  // Records that are deleted, or that an update gives another type, count as gone.
  const steps = [
    { list: updateOld, field: 'updateOld', isThere: false, isNew: false },
    { list: gone, field: 'delete', isThere: false, isNew: false },
    { list: updateNew, field: 'updateNew', isThere: true, isNew: false },
    { list: create, field: 'create', isThere: true, isNew: true },
  ]
  const asked: Asked[] = []
  const wanted = new Map<string, Wanted>()
  for (const { list, field, isThere, isNew } of steps) {
    for (const [i, wire] of list.entries()) {
      const place = `${field}.${i}`
      const read = readAt(wire, held, tenant)
      if (!read.ok) return err(read.error(place))
      const endpoint = read.value
      if (isThere && endpoint.targets.length === 0) return err(withoutTargets(place, endpoint))
      const key = keyOf(endpoint)
      const twice = isThere ? twiceRefusal(endpoint, wanted.get(key)) : undefined
      if (twice !== undefined) return err(twice)
      wanted.set(key, { endpoint, isThere })
      asked.push({ endpoint, isThere, isNew })
    }
  }
  const senders = sendersIn(asked.map(({ endpoint }) => endpoint))
  for (const one of asked) {
    const last = wanted.get(keyOf(one.endpoint))
    const next = last?.isThere === true ? last.endpoint : undefined
    const refusal = claimRefusal(one, next, held, senders)
    if (refusal !== undefined) return err(refusal)
  }
  return ok(wanted)
}

const withoutTargets = (place: string, { name, type }: Endpoint): Reply =>
  refused(400, `${place}: ${name.slice(0, -1)} ${type} has no targets: name one, or delete it`)

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

function twiceRefusal(endpoint: Endpoint, before: Wanted | undefined): Reply | undefined {
  if (before?.isThere !== true) return undefined
  const isSame = JSON.stringify(before.endpoint.targets) === JSON.stringify(endpoint.targets)
  if (isSame) return undefined
  const what = `${endpoint.name.slice(0, -1)} ${endpoint.type}${ofSet(endpoint.set)}`
  return refused(400, `${what} is given twice, with different targets`)
}
