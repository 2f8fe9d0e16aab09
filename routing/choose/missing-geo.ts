// Finds routing methods whose geo database is missing.
import type { Bundle } from '#bundle/format/bundle.ts'
import type { GeoBuffers } from '#routing/geo/geo-tables.ts'
import { waysInPolicies } from './policy.ts'
import type { Way } from './way.ts'

interface MissingGeo {
  /** Completes "there is no". */
  readonly noun: string
  readonly setting: string
}

const places = { noun: 'geo database with places', setting: 'geoip.dbPath' }
const countries = { noun: 'geo database with countries', setting: 'geoip.dbPath' }
const operators = { noun: 'geo database of operators', setting: 'asn.dbPath' }

/** @returns undefined when the method has its database or needs none */
export function missingFor(
  { needs }: Way,
  { location, country, asn }: GeoBuffers,
): MissingGeo | undefined {
  if (location === null && needs.includes('locations')) return places
  if (country === null && needs.includes('regions')) return countries
  return asn === null && needs.includes('asn-rules') ? operators : undefined
}

/** Cached: asked far more often than bundles change. */
const known = new WeakMap<Bundle, ReadonlySet<Way>>()

/** Returns a sentence for each routing method of a bundle whose database is missing. */
export function missingIn(bundle: Bundle, geo: GeoBuffers): readonly string[] {
  const ways = known.get(bundle) ?? waysInPolicies(bundle)
  known.set(bundle, ways)
  const sentences = [...ways].flatMap((way) => {
    const missing = missingFor(way, geo)
    return missing === undefined ? [] : [sentenceOf(way, missing)]
  })
  return [...new Set(sentences)]
}

const sentenceOf = ({ name }: Way, { noun, setting }: MissingGeo): string =>
  `Services choose by ${name}, and there is no ${noun} on this node (${setting}): ` +
  'to them no client is anywhere.'
