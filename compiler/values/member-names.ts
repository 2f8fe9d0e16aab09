// Finds members by the names people use: name, address or uid, and POOL/MEMBER in a resource.
import { uuidPattern } from '#lib/text/patterns.ts'
import { getOrInsert } from '#lib/sequence/get-or-insert.ts'
import { endpointKey, targetOf } from './member-target.ts'
import type { MemberTarget } from './member-target.ts'

const uuid = new RegExp(uuidPattern)

interface NamedMember extends MemberTarget {
  /** Empty: unnamed. */
  readonly name: string
}

/** Index of the members of one pool by name, address and uid. */
export class MemberNames {
  readonly #places = new Map<string, number[]>()
  readonly #placeOfUid: (uid: string) => number

  /** @param placeOfUid -1: no such member; called only with a UUID in lower case */
  constructor(members: readonly NamedMember[], placeOfUid: (uid: string) => number) {
    this.#placeOfUid = placeOfUid
    for (const [place, member] of members.entries()) {
      for (const key of new Set([member.name, targetOf(member)])) {
        getOrInsert(this.#places, key, () => []).push(place)
      }
    }
  }

  /** Positions in the list. Several: the text is ambiguous. */
  placesOf(text: string): readonly number[] {
    if (text === '') return []
    const named = this.#places.get(endpointKey(text)) ?? this.#places.get(text)
    if (named !== undefined) return named
    const place = uuid.test(text) ? this.#placeOfUid(text.toLowerCase()) : -1
    return place < 0 ? [] : [place]
  }
}

/** Splits at the first slash. undefined: there is none, so the text names a pool or is a uid. */
export function splitResource(
  resource: string,
): readonly [pool: string, member: string | undefined] {
  const slash = resource.indexOf('/')
  return slash < 0 ? [resource, undefined] : [resource.slice(0, slash), resource.slice(slash + 1)]
}
