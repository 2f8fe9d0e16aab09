// How people name a member: by name, address or uid, and in a resource as POOL/MEMBER.
import { uuidPattern } from '#lib/text/patterns.ts'
import { endpointKey, targetOf } from './member-target.ts'
import type { MemberTarget } from './member-target.ts'

const uuid = new RegExp(uuidPattern)

export interface NamedMember extends MemberTarget {
  /** Empty: it has none. */
  readonly name: string
}

/** The members of one pool, by what people call them. */
export class MemberNames {
  readonly #places = new Map<string, number[]>()
  readonly #placeOfUid: (uid: string) => number

  /** @param placeOfUid -1: no member has it; asked only about a UUID, in lower case */
  constructor(members: readonly NamedMember[], placeOfUid: (uid: string) => number) {
    this.#placeOfUid = placeOfUid
    for (const [place, member] of members.entries()) {
      for (const key of new Set([member.name, targetOf(member)])) {
        this.#places.set(key, [...(this.#places.get(key) ?? []), place])
      }
    }
  }

  /** Places in the list. More than one: the text does not say which member is meant. */
  placesOf(text: string): readonly number[] {
    if (text === '') return []
    const named = this.#places.get(endpointKey(text)) ?? this.#places.get(text)
    if (named !== undefined) return named
    const place = uuid.test(text) ? this.#placeOfUid(text.toLowerCase()) : -1
    return place < 0 ? [] : [place]
  }
}

/** At the first slash. undefined: there is none, so that the text names a pool or is a uid. */
export function splitResource(
  resource: string,
): readonly [pool: string, member: string | undefined] {
  const slash = resource.indexOf('/')
  return slash < 0 ? [resource, undefined] : [resource.slice(0, slash), resource.slice(slash + 1)]
}
