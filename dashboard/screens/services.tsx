// All services: searched by name, domain and pool, filtered by the state of their pools.
import { allPools, allServices, membersOf, standingOf } from '../api/live.ts'
import type { Service } from '../api/live.ts'
import { searchedOf } from '../parts/find.ts'
import type { Column } from '../parts/virtual-table.tsx'
import { HealthBar, barOf } from '../health/health-bar.tsx'
import type { Counts } from '../health/health-bar.tsx'
import { ListPage } from './list-page.tsx'
import type { ListRow } from './list-page.tsx'

interface Row extends ListRow {
  readonly service: Service
  readonly pool: string
  readonly counts: Counts
}

const columns: readonly Column<Row>[] = [
  { name: 'Domain', show: ({ service }) => service.domain },
  { name: 'Service', show: ({ service }) => service.name, isExtra: true },
  { name: 'Chosen by', show: ({ service }) => wayOf(service), isExtra: true },
  { name: 'Pool', show: ({ pool }) => pool, isExtra: true },
  { name: 'Members', show: ({ counts }) => <HealthBar counts={counts} /> },
  { name: 'TTL', show: ({ service }) => `${service.ttl} s`, isNumber: true, isExtra: true },
]

export const wayOf = ({ algorithm, filterChain }: Service): string =>
  filterChain.length === 0
    ? algorithm
    : filterChain.map((one) => (one.startsWith('script:') ? 'script' : one)).join(' → ')

function rows(): Row[] {
  const pools = new Map(allPools().map((pool) => [pool.id, pool]))
  const bars = new Map<string, Counts>()
  for (const id of pools.keys()) bars.set(id, barOf(membersOf(id).map(standingOf)))
  const none = barOf([])
  return allServices().map((service) => {
    const pool = service.poolId === null ? undefined : pools.get(service.poolId)
    const name = pool?.name ?? '–'
    const words = searchedOf([service.name, service.domain, name])
    return { service, pool: name, counts: bars.get(pool?.id ?? '') ?? none, words }
  })
}

const filters: Readonly<Record<string, (row: Row) => boolean>> = {
  'with a fault': ({ counts }) => counts.down + counts.split > 0,
  'without a healthy member': ({ counts }) => counts.up === 0,
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
