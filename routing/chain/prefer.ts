// Finds the first candidate in a list of preferences.
import type { Chain } from './chain.ts'

/** Searches a list of members. @returns the position of the first one that is a candidate, or -1 */
export function preferredMember({ members, count }: Chain, lists: Uint32Array, list: number) {
  const end = list + 1 + lists[list]!
  for (let at = list + 1; at < end; at++) {
    for (let i = 0; i < count; i++) if (members[i] === lists[at]) return i
  }
  return -1
}

/** Searches a list of rows of `endpointVector`. @returns as above */
export function preferredEndpoint(
  { bundle, members, count }: Chain,
  lists: Uint32Array,
  list: number,
): number {
  const { memberEndpoint } = bundle
  const end = list + 1 + lists[list]!
  for (let at = list + 1; at < end; at++) {
    for (let i = 0; i < count; i++) if (memberEndpoint[members[i]!] === lists[at]) return i
  }
  return -1
}
