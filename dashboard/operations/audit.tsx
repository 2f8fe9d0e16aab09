// Shows the audit log, newest first; a few thousand of its calls are held at a time.
import type { paths } from 'openapi-of-gslbd'
import { me } from '../api/session.ts'
import { go, place, setQuery } from '../parts/location.ts'
import { Badge, Card, Empty, LoadState, Page, Time } from '../parts/page.tsx'
import type { Tone } from '../parts/page.tsx'
import { SearchBox } from '../parts/search-box.tsx'
import { Table } from '../parts/virtual-table.tsx'
import type { Column } from '../parts/virtual-table.tsx'
import { countOf, endOfTimeMs, fieldTimeOf, localOf } from '../parts/formats.ts'
import { heldMax, usePages } from './pages.ts'

type Calls = paths['/api/v1/audit']['get']['responses'][200]['content']['application/json']
type Call = Calls[number]

const toneOf = (status: number): Tone => (status < 400 ? 'good' : status < 500 ? 'warn' : 'bad')

const tookOf = ({ durationMs }: Call) => <span class="unbroken">{durationMs} ms</span>

/** The account, or the end of the key. */
function whoOf({ userEmail, userId, actor, note }: Call) {
  const who = userEmail ?? userId
  return (
    <>
      {who === null ? <code>…{actor}</code> : <span class="unbroken">{who}</span>}
      {note !== null && <small> {note}</small>}
    </>
  )
}

const columns: readonly Column<Call>[] = [
  { name: 'Time', show: ({ at }) => <Time ms={at} isWhole /> },
  {
    name: 'Call',
    show: ({ method, path }) => (
      <code>
        {method} {path.replace(/^\/api\/v1/, '')}
      </code>
    ),
  },
  { name: 'Status', show: ({ status }) => <Badge tone={toneOf(status)}>{status}</Badge> },
  { name: 'Who', show: whoOf },
  { name: 'Client', show: ({ remote }) => <code class="unbroken">{remote}</code>, isExtra: true },
  { name: 'Took', show: tookOf, isNumber: true, isExtra: true },
]
const tenant: Column<Call> = {
  ...{ name: 'Tenant', isExtra: true },
  show: ({ tenantId }) => <span class="unbroken">{tenantId}</span>,
}

/** In the address, and what the API calls it. */
const filters = ['path', 'method', 'refused', 'actor', 'from', 'to'] as const
const pageSize = 200

export function Audit() {
  const { query } = place.value
  const given = filters.flatMap((name): [string, string][] => {
    const value = query.get(name) ?? ''
    return value === '' ? [] : [[name, value]]
  })
  const asked = new URLSearchParams([['limit', String(pageSize)], ...given])
  const pages = usePages<Call>(`/api/v1/audit?${asked}`)
  const { rows, isMore, isAsking, fault, more, again } = pages
  const seesAll = me.value?.isSystemAdmin === true
  return (
    <Page
      title="Audit"
      lead="Each call that changed something, or tried to. The log of the node has all of them."
      actions={
        <button type="button" onClick={again}>
          Look again
        </button>
      }
    >
      <Filters />
      <Card>
        <LoadState value={rows} fault={fault} reload={again} />
        {rows === undefined ? null : rows.length === 0 && !isMore ? (
          <Empty title={given.length === 0 ? 'No calls yet' : 'No call is like this'}>
            {given.length === 0
              ? 'The next change over the API will be here, a second later.'
              : 'Clear a filter to see more.'}
          </Empty>
        ) : (
          <>
            <Table
              key={pages.key}
              name="Audit"
              columns={seesAll ? [...columns, tenant] : columns}
              keyOf={({ id }) => id}
              {...{ rows, onEnd: more }}
            />
            <Rest {...{ rows, isMore, isAsking, more }} />
          </>
        )}
      </Card>
    </Page>
  )
}

interface RestProps {
  readonly rows: readonly Call[]
  readonly isMore: boolean
  readonly isAsking: boolean
  readonly more: () => void
}

/** How many calls are held, and how to reach older ones. */
function Rest({ rows, isMore, isAsking, more }: RestProps) {
  const last = rows.at(-1)
  const isFull = rows.length >= heldMax && last !== undefined
  const older = (): void => {
    // Calls of the same millisecond are repeated.
    go('/audit', { ...Object.fromEntries(place.value.query), to: String(last!.at + 1) })
  }
  return (
    <div class="row">
      <span class="soft" role="status">
        {countOf(rows.length, 'call')}
        {last !== undefined && isMore && ` back to ${localOf(last.at)}`}
      </span>
      {isMore && (
        <button type="button" disabled={isAsking} onClick={isFull ? older : more}>
          {isFull ? 'Begin with the older ones' : 'Look further back'}
        </button>
      )}
    </div>
  )
}

function Filters() {
  return (
    <div class="row">
      <SearchBox label="Part of a path, such as an id" name="path" />
      <Choice name="method" label="Method" values={['POST', 'PUT', 'PATCH', 'DELETE']} />
      <Choice name="refused" label="Outcome" values={['false', 'true']} words={outcomes} />
      <input
        {...{ type: 'search', class: 'search short', maxLength: 4, autocomplete: 'off' }}
        aria-label="Last four characters of the key"
        placeholder="…key"
        value={place.value.query.get('actor') ?? ''}
        onInput={(event) => setQuery('actor', event.currentTarget.value)}
      />
      <Moment name="from" label="From" />
      <Moment name="to" label="Before" />
    </div>
  )
}

const outcomes = ['done', 'refused'] as const

interface ChoiceProps {
  readonly name: string
  readonly label: string
  readonly values: readonly string[]
  readonly words?: readonly string[]
}

function Choice({ name, label, values, words = values }: ChoiceProps) {
  return (
    <select
      class="search short"
      aria-label={label}
      value={place.value.query.get(name) ?? ''}
      onChange={(event) => setQuery(name, event.currentTarget.value)}
    >
      <option value="">{label}: any</option>
      {values.map((value, i) => (
        <option key={value} value={value}>
          {words[i]}
        </option>
      ))}
    </select>
  )
}

/** In the reader's zone; the address has milliseconds. */
function Moment({ name, label }: { name: string; label: string }) {
  const ms = Number(place.value.query.get(name) ?? '')
  const change = (text: string): void => {
    const at = new Date(text).getTime()
    setQuery(name, Number.isNaN(at) ? '' : String(at))
  }
  return (
    <label class="row soft">
      {label}
      <input
        {...{ type: 'datetime-local', class: 'search short' }}
        value={ms > 0 && ms < endOfTimeMs ? fieldTimeOf(ms) : ''}
        onChange={(event) => change(event.currentTarget.value)}
      />
    </label>
  )
}
