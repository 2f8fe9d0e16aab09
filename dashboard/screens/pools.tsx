// All pools with the health of their members.
import { useMemo } from 'preact/hooks'
import { allPools, allServices, beat, membersOf, standingOf } from '../api/live.ts'
import type { Member, Pool } from '../api/live.ts'
import { can } from '../api/session.ts'
import { useEdits } from '../edit/use-edits.tsx'
import { place } from '../parts/location.ts'
import { Card, Empty, Page } from '../parts/page.tsx'
import { finderOf, searchedOf } from '../parts/find.ts'
import { SearchBox } from '../parts/search-box.tsx'
import { Table } from '../parts/virtual-table.tsx'
import type { Column } from '../parts/virtual-table.tsx'
import { countOf } from '../parts/words.ts'
import { HealthBar, barOf } from './health-bar.tsx'
import type { Counts } from './health-bar.tsx'
import { OnlySelect } from './services.tsx'

interface Row {
  readonly pool: Pool
  readonly counts: Counts
  readonly services: number
  /** What the search looks at, in small letters. */
  readonly words: string
}

const columns: readonly Column<Row>[] = [
  { name: 'Pool', show: ({ pool }) => pool.name },
  { name: 'Members', show: ({ counts }) => <HealthBar counts={counts} /> },
  { name: 'Needs healthy', show: ({ pool }) => pool.minHealthy, isNumber: true, isExtra: true },
  { name: 'Services', show: ({ services }) => services, isNumber: true, isExtra: true },
]

function rows(): Row[] {
  const uses = new Map<string, number>()
  for (const { poolId } of allServices()) {
    if (poolId !== null) uses.set(poolId, (uses.get(poolId) ?? 0) + 1)
  }
  return allPools().map((pool) => {
    const members = membersOf(pool.id)
    return {
      ...{ pool, counts: barOf(members.map(standingOf)), services: uses.get(pool.id) ?? 0 },
      words: searchedOf([pool.name, ...members.flatMap(wordsOfMember)]),
    }
  })
}

const wordsOfMember = ({ ipAddress, name, hostname, region }: Member): string[] => [
  ...[ipAddress, name, hostname ?? '', `region:${region}`],
]

const filters: Readonly<Record<string, (row: Row) => boolean>> = {
  'with a fault': ({ counts }) => counts.down + counts.split > 0,
  'without a healthy member': ({ counts }) => counts.up === 0,
  'used by no service': ({ services }) => services === 0,
}

export function Pools() {
  const { edit, dialogs } = useEdits()
  const { query } = place.value
  const words = query.get('q') ?? ''
  const only = query.get('only') ?? ''
  // Not for each letter of the search, only when something has changed.
  const all = useMemo(rows, [beat.value])
  const isSearched = finderOf(words)
  const shown = all.filter((row) => isSearched(row.words) && (filters[only]?.(row) ?? true))
  const create = (): void => edit({ title: 'New pool', operation: 'POST /api/v1/pools' })
  return (
    <Page
      title="Pools"
      lead="Members that can stand in for each other, and the probes that watch them."
      actions={
        can('pool:write') && (
          <button type="button" class="primary" onClick={create}>
            New pool
          </button>
        )
      }
    >
      <div class="row">
        <SearchBox label="Search pool, member or address" />
        <OnlySelect names={Object.keys(filters)} />
        <span class="soft" role="status">
          {countOf(shown.length, 'pool')}
        </span>
      </div>
      <Card>
        {all.length === 0 ? (
          <Empty title="No pools yet">
            A pool has the addresses that can serve the same thing. Give it members and a health
            check, then let a service answer with it.
          </Empty>
        ) : shown.length === 0 ? (
          <Empty title="No pool has these words">Clear the search to see all.</Empty>
        ) : (
          <Table
            name="Pools"
            {...{ columns, rows: shown }}
            keyOf={({ pool }) => pool.id}
            leadsTo={({ pool }) => `/pools/${encodeURIComponent(pool.id)}`}
          />
        )}
      </Card>
      {dialogs}
    </Page>
  )
}
