// Shows where the queries of the last hour came from: discs below the map's members, and words.
import type { paths } from 'openapi-of-gslbd'
import { Refusal, read } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { can } from '../api/session.ts'
import { nameOfCountry } from '../map/client-place.tsx'
import { placeOf } from '../map/places.ts'
import type { Mark } from '../map/world-map.tsx'
import { countOf, spanOf } from '../parts/formats.ts'

const path = '/api/v1/client-regions'
type Regions = paths[typeof path]['get']['responses'][200]['content']['application/json']

const everyMs = 10_000

/** null: this node counts nobody, or the caller may not know. */
export function useClientRegions(): Regions | null {
  const may = can('cluster:status')
  const { value } = useLoad(path, async () => (may ? regionsOrNone() : null), everyMs)
  return value ?? null
}

async function regionsOrNone(): Promise<Regions | null> {
  try {
    return await read(path)
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return null
    throw error
  }
}

const shareOf = (queries: number, { countries }: Regions): number =>
  queries /
  Math.max(
    1,
    countries.reduce((sum, one) => sum + one.queries, 0),
  )

const percentOf = (share: number): string =>
  share < 0.01 ? 'less than 1 %' : `${Math.round(100 * share)} %`

export function marksOfClients(regions: Regions | null): readonly Mark[] {
  if (regions === null) return []
  return regions.countries.flatMap(({ country, queries }) => {
    const place = placeOf(country)
    if (place === undefined) return []
    const share = shareOf(queries, regions)
    const words = `Clients in ${nameOfCountry(country)}: ${percentOf(share)} of the queries`
    const mark = { key: `clients ${country}`, place, count: 0, tone: 'clients' } as const
    return [{ ...mark, radius: 6 + 40 * Math.sqrt(share), words, path: '/trace' }]
  })
}

const namedMax = 6

/** The same in words, for people who see no map. */
export function ClientSummary({ regions }: { regions: Regions | null }) {
  if (regions === null) return null
  const { hasDatabase, sampled, seconds, countries } = regions
  if (!hasDatabase) {
    return (
      <p class="hint">
        With a database of countries (geoip.dbPath) the map shows where queries come from, too.
      </p>
    )
  }
  if (sampled === 0) {
    return <p class="hint">No query has come in the last hour: none is shown on the map.</p>
  }
  const named = countries.slice(0, namedMax).map(({ country, queries }) => {
    const name =
      country === '' ? 'countries that the database does not know' : nameOfCountry(country)
    return `${name} ${percentOf(shareOf(queries, regions))}`
  })
  const rest = countries.length - named.length
  const more = rest === 0 ? '' : ` and ${countOf(rest, 'other country', 'other countries')}`
  return (
    <p class="hint">
      Queries of the last {spanOf(Math.max(1, seconds))} came from {named.join(', ')}
      {more}. Of this node, from a sample of {countOf(sampled, 'query', 'queries')}.
    </p>
  )
}
