// The page of a long list: search, filter and count above, rows that are drawn as they are seen.
import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { beat } from '../api/live.ts'
import { can } from '../api/session.ts'
import { useEdits } from '../edit/use-edits.tsx'
import { finderOf } from '../parts/find.ts'
import { place, setQuery } from '../parts/location.ts'
import { NotKnown, isKnown } from '../parts/not-known.tsx'
import { Card, Empty, Page } from '../parts/page.tsx'
import { SearchBox } from '../parts/search-box.tsx'
import { Table } from '../parts/virtual-table.tsx'
import type { Column } from '../parts/virtual-table.tsx'
import { countOf } from '../parts/formats.ts'

export interface ListRow {
  /** Searched text, in lower case. */
  readonly words: string
}

interface ListProps<Row extends ListRow> {
  readonly title: string
  /** Word for one of them, such as `pool`. */
  readonly one: string
  readonly lead: string
  readonly search: string
  /** Permission to create one. */
  readonly permission: string
  /** `POST /api/v1/pools`. */
  readonly operation: string
  /** Equal until objects change; health is read when a row is shown. */
  readonly rows: () => readonly Row[]
  readonly columns: readonly Column<Row>[]
  readonly filters: Readonly<Record<string, (row: Row) => boolean>>
  readonly keyOf: (row: Row) => string
  readonly leadsTo: (row: Row) => string
  /** Help for an empty list. */
  readonly children: ComponentChildren
}

export function ListPage<Row extends ListRow>(list: ListProps<Row>) {
  const { title, one, lead, search, permission, operation, filters, children } = list
  const { columns, keyOf, leadsTo } = list
  const { edit, dialogs } = useEdits()
  const { query } = place.value
  const given = query.get('only') ?? ''
  // The address may name any filter.
  const only = Object.hasOwn(filters, given) ? given : ''
  const all = list.rows()
  const words = query.get('q') ?? ''
  // A filter uses the health of all rows, so it is evaluated at each change.
  const found = useMemo(() => {
    const isSearched = finderOf(words)
    return all.filter((row) => isSearched(row.words) && (filters[only]?.(row) ?? true))
  }, [all, words, only, only === '' ? 0 : beat.value])
  const { shown, waiting, handlers } = useStill({ found, all, keyOf, of: query.toString() })
  return (
    <Page
      {...{ title, lead }}
      actions={
        can(permission) && (
          <button
            {...{ type: 'button', class: 'primary' }}
            onClick={() => edit({ title: `New ${one}`, operation })}
          >
            New {one}
          </button>
        )
      }
    >
      <div class="row">
        <SearchBox label={search} />
        <OnlySelect names={Object.keys(filters)} />
        <span class="soft" role="status">
          {countOf(shown.length, one)}
        </span>
      </div>
      <Card>
        {!isKnown() ? (
          <NotKnown />
        ) : all.length === 0 ? (
          <Empty title={`No ${one}s yet`}>{children}</Empty>
        ) : shown.length === 0 ? (
          <Nothing {...{ one, only, words }} />
        ) : (
          <div {...handlers}>
            <Table name={title} rows={shown} {...{ columns, keyOf, leadsTo }} />
            {waiting > 0 && (
              <p class="hint">{countOf(waiting, 'row')} to update when the pointer leaves</p>
            )}
          </div>
        )}
      </Card>
      {dialogs}
    </Page>
  )
}

interface StillProps<Row> {
  /** The rows found now. */
  readonly found: readonly Row[]
  readonly all: readonly Row[]
  readonly keyOf: (row: Row) => string
  /** Search and filter, after whose change rows are not held. */
  readonly of: string
}

/**
 * While the pointer is over the list, no row appears or vanishes, so that a click meets its row.
 */
function useStill<Row>({ found, all, keyOf, of }: StillProps<Row>) {
  const [held, setHeld] = useState<{ of: string; keys: ReadonlySet<string> } | null>(null)
  const handlers = {
    onPointerEnter: () => setHeld({ of, keys: new Set(found.map(keyOf)) }),
    onPointerLeave: () => setHeld(null),
  }
  const keys = held?.of === of ? held.keys : undefined
  if (keys === undefined) return { shown: found, waiting: 0, handlers }
  const shown = all.filter((row) => keys.has(keyOf(row)))
  const stay = found.filter((row) => keys.has(keyOf(row))).length
  return { shown, waiting: found.length + shown.length - 2 * stay, handlers }
}

/** Explains why none of the existing ones is shown. */
function Nothing({ one, only, words }: { one: string; only: string; words: string }) {
  if (only === '') {
    return <Empty title={`No ${one} has these words`}>Clear the search to see all.</Empty>
  }
  const has = words === '' ? '' : ' with these words'
  return <Empty title={`No ${one}${has} under “${only}”`}>Choose “all” to see the others.</Empty>
}

function OnlySelect({ names }: { names: readonly string[] }) {
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
