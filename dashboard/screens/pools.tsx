// All pools with the health of their members.
import { allPools, allServices, membersOf, ofObjects, standingsOf } from '../api/live.ts'
import type { Member, Pool } from '../api/live.ts'
import { searchedOf } from '../parts/find.ts'
import type { Column } from '../parts/virtual-table.tsx'
import { HealthBar, barOf, hasFault } from '../health/health-bar.tsx'
import { ListPage } from './list-page.tsx'
import type { ListRow } from './list-page.tsx'

interface Row extends ListRow {
  readonly pool: Pool
  readonly services: number
}

const columns: readonly Column<Row>[] = [
  { name: 'Pool', show: ({ pool }) => pool.name },
  { name: 'Members', show: (row) => <HealthBar counts={countsOf(row)} /> },
  { name: 'Needs healthy', show: ({ pool }) => pool.minHealthy, isNumber: true, isExtra: true },
  { name: 'Services', show: ({ services }) => services, isNumber: true, isExtra: true },
]

/** Now, and only of rows that are looked at. */
const countsOf = ({ pool }: Row) => barOf(standingsOf(pool.id))

const rows = ofObjects((): readonly Row[] => {
  const uses = new Map<string, number>()
  for (const { poolId } of allServices()) {
    if (poolId !== null) uses.set(poolId, (uses.get(poolId) ?? 0) + 1)
  }
  return allPools().map((pool) => {
    const words = searchedOf([pool.name, ...membersOf(pool.id).flatMap(searchTextsOf)])
    return { pool, services: uses.get(pool.id) ?? 0, words }
  })
})

const searchTextsOf = ({ ipAddress, name, hostname, from, region }: Member): string[] => [
  ...[ipAddress, name, hostname ?? from ?? '', `region:${region}`],
]

const filters: Readonly<Record<string, (row: Row) => boolean>> = {
  'with a fault': (row) => hasFault(countsOf(row)),
  'without a healthy member': (row) => countsOf(row).up === 0,
  'used by no service': ({ services }) => services === 0,
}

export function Pools() {
  return (
    <ListPage
      {...{ title: 'Pools', one: 'pool', rows, columns, filters }}
      lead="Members that can stand in for each other, and the probes that watch them."
      search="Search pool, member or address"
      {...{ permission: 'pool:write', operation: 'POST /api/v1/pools' }}
      keyOf={({ pool }) => pool.id}
      leadsTo={({ pool }) => `/pools/${encodeURIComponent(pool.id)}`}
    >
      A pool has the addresses that can serve the same thing. Give it members and a health check,
      then let a service answer with it.
    </ListPage>
  )
}
