// All services: searched by name, domain and pool, filtered by the state of their pools.
import { useMemo } from 'preact/hooks'
import { allPools, allServices, beat, membersOf, standingOf } from '../api/live.ts'
import type { Service } from '../api/live.ts'
import { can } from '../api/session.ts'
import { useEdits } from '../edit/use-edits.tsx'
import { place, setQuery } from '../parts/location.ts'
import { Card, Empty, Page } from '../parts/page.tsx'
import { finderOf, searchedOf } from '../parts/find.ts'
import { SearchBox } from '../parts/search-box.tsx'
import { Table } from '../parts/virtual-table.tsx'
import type { Column } from '../parts/virtual-table.tsx'
import { countOf } from '../parts/words.ts'
import { HealthBar, barOf } from './health-bar.tsx'
import type { Counts } from './health-bar.tsx'

interface Row {
  readonly service: Service
  readonly pool: string
  readonly counts: Counts
  /** What the search looks at, in small letters. */
  readonly words: string
}

const columns: readonly Column<Row>[] = [
  { name: 'Domain', show: ({ service }) => service.domain },
  { name: 'Service', show: ({ service }) => service.name, isExtra: true },
  { name: 'Chosen by', show: ({ service }) => wayOf(service), isExtra: true },
  { name: 'Pool', show: ({ pool }) => pool },
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
  const { edit, dialogs } = useEdits()
  const { query } = place.value
  const words = query.get('q') ?? ''
  const only = query.get('only') ?? ''
  // Not for each letter of the search, only when something has changed.
  const all = useMemo(rows, [beat.value])
  const isSearched = finderOf(words)
  const shown = all.filter((row) => isSearched(row.words) && (filters[only]?.(row) ?? true))
  const create = (): void => edit({ title: 'New service', operation: 'POST /api/v1/services' })
  return (
    <Page
      title="Services"
      lead="A name, and how a healthy member is chosen for each answer."
      actions={
        can('service:write') && (
          <button type="button" class="primary" onClick={create}>
            New service
          </button>
        )
      }
    >
      <div class="row">
        <SearchBox label="Search name, domain or pool" />
        <OnlySelect names={Object.keys(filters)} />
        <span class="soft" role="status">
          {countOf(shown.length, 'service')}
        </span>
      </div>
      <Card>
        {all.length === 0 ? (
          <Empty title="No services yet">
            A service answers for one name, such as www.example.com, with the members of a pool.
            Make a pool first.
          </Empty>
        ) : shown.length === 0 ? (
          <Empty title="No service has these words">Clear the search to see all.</Empty>
        ) : (
          <Table
            name="Services"
            {...{ columns, rows: shown }}
            keyOf={({ service }) => service.id}
            leadsTo={({ service }) => `/services/${encodeURIComponent(service.id)}`}
          />
        )}
      </Card>
      {dialogs}
    </Page>
  )
}

export function OnlySelect({ names }: { names: readonly string[] }) {
  const value = place.value.query.get('only') ?? ''
  return (
    <select
      class="search"
      style={{ width: 'auto' }}
      aria-label="Show only"
      value={value}
      onChange={(event) => setQuery('only', event.currentTarget.value)}
    >
      <option value="">all</option>
      {names.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  )
}
