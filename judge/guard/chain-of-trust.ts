// Finds changes after which the DS record at the parent of a zone fits no key of it any more:
// resolvers that validate would take every answer for a forgery.
import type { NameOutline } from '#compiler/lower/name-outline.ts'
import { algorithmName } from '#dns/dnssec/algorithms.ts'

type Chained = Pick<NameOutline, 'zones' | 'parentDs'>

/** @returns what the change does, as the end of "Commit c0ffee …"; undefined: nothing like that */
export function brokenChain(before: Chained, after: Chained): string | undefined {
  const seen = before.parentDs ?? after.parentDs
  if (seen === undefined) return undefined
  for (const [zone, { algorithm: was }] of before.zones) {
    const now = after.zones.get(zone)?.algorithm
    const { ds = [], rolls = false } = seen.get(zone) ?? {}
    if (was === 0 || now === undefined || now === was || ds.length === 0) continue
    if (now !== 0 && rolls) continue
    if (ds.some((one) => algorithmOf(one) === now)) continue
    const shown = `the DS record "${ds[0]!}"${ds.length > 1 ? ` and ${ds.length - 1} more` : ''}`
    const below = `below ${shown} that its parent was last seen to have`
    return `signs zone ${zone} ${howNow(was, now)}, ${below}: ${harm}. ${goInsecure}`
  }
  return undefined
}

/** Zones of which only their parents know whether the change is one: sentences. */
export function unknownChains(before: Chained, after: Chained): readonly string[] {
  return [...before.zones].flatMap(([zone, { algorithm: was }]) => {
    const now = after.zones.get(zone)?.algorithm
    if (was === 0 || now === undefined || now === was) return []
    return [`zone ${zone} is signed ${howNow(was, now)}, ${notAsked} (dig +short DS ${zone})`]
  })
}

const notAsked =
  'and the DS records at its parent are not asked for here: a node that knows them holds this ' +
  'while there is one of the old keys, unless they roll by themselves; look first'

const harm = 'resolvers that validate would take every answer for a forgery'
const goInsecure = 'First take the DS away at the parent, and wait for its TTL'

const howNow = (was: number, now: number): string =>
  now === 0 ? 'no more' : `by ${algorithmName(now)} in the place of ${algorithmName(was)}`

/** A DS record has key tag, algorithm, digest type, digest. RFC 4034 section 5.3. */
const algorithmOf = (ds: string): number => Number(ds.split(' ')[1])
