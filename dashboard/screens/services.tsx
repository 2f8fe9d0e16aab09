// All services: searched by name, domain and pool, filtered by the state of their pools.
import { allServices, ofObjects, poolOf, standingsOf } from '../api/live.ts'
import type { Service } from '../api/live.ts'
import { searchedOf } from '../parts/find.ts'
import type { Column } from '../parts/virtual-table.tsx'
import { HealthBar, barOf, hasFault } from '../health/health-bar.tsx'
import { ListPage } from './list-page.tsx'
import type { ListRow } from './list-page.tsx'

interface Row extends ListRow {
  readonly service: Service
  readonly pool: string
}

const columns: readonly Column<Row>[] = [
  { name: 'Domain', show: ({ service }) => service.domain },
  { name: 'Service', show: ({ service }) => service.name, isExtra: true },
  { name: 'Chosen by', show: ({ service }) => wayOf(service), isExtra: true },
  { name: 'Pool', show: ({ pool }) => pool, isExtra: true },
  { name: 'Members', show: (row) => <HealthBar counts={countsOf(row)} /> },
  { name: 'TTL', show: ({ service }) => `${service.ttl} s`, isNumber: true, isExtra: true },
]

export const wayOf = ({ algorithm, filterChain }: Service): string =>
  filterChain.length === 0
    ? algorithm
    : filterChain.map((one) => (one.startsWith('script:') ? 'script' : one)).join(' → ')

/** Now, and only of rows that are looked at. */
const countsOf = ({ service }: Row) => barOf(standingsOf(service.poolId ?? ''))

const rows = ofObjects((): readonly Row[] =>
  allServices().map((service) => {
    const pool = poolOf(service.poolId ?? '')?.name ?? '–'
    return { service, pool, words: searchedOf([service.name, service.domain, pool]) }
  }),
)

const filters: Readonly<Record<string, (row: Row) => boolean>> = {
  'with a fault': (row) => hasFault(countsOf(row)),
  'without a healthy member': (row) => countsOf(row).up === 0,
}

export function Services() {
  return (
    <ListPage
      {...{ title: 'Services', one: 'service', rows, columns, filters }}
      lead="A name, and how a healthy member is chosen for each answer."
      search="Search name, domain or pool"
      {...{ permission: 'service:write', operation: 'POST /api/v1/services' }}
      keyOf={({ service }) => service.id}
      leadsTo={({ service }) => `/services/${encodeURIComponent(service.id)}`}
    >
      A service answers for one name, such as www.example.com, with the members of a pool. Make a
      pool first.
    </ListPage>
  )
}
