// The screen of any resource: what the API's document says of it is what can be seen and done.
import { send } from '../api/client.ts'
import { documentFault, learnDocument, operations } from '../api/document.ts'
import type { Operation, Operations } from '../api/document.ts'
import { useLoad } from '../api/load.ts'
import { can } from '../api/session.ts'
import { Offer } from '../edit/call-button.tsx'
import { useEdits } from '../edit/use-edits.tsx'
import type { Edits } from '../edit/use-edits.tsx'
import { place } from '../parts/location.ts'
import { Card, Empty, Fault, Loading, LoadState, Page } from '../parts/page.tsx'
import { matchesQuery } from '../parts/find.ts'
import { SearchBox } from '../parts/search-box.tsx'
import { Table } from '../parts/virtual-table.tsx'
import { countOf, labelOf, wordsIn } from '../parts/formats.ts'
import { Facts, Value } from './value.tsx'
import { itemPathOf, keyOf, shownFields } from './columns.ts'
import type { Row } from './columns.ts'
import { rowOf } from './table.ts'

interface ResourceProps {
  /** `/api/v1/rollouts`. */
  readonly path: string
  readonly name: string
}

const everyMs = 10_000

export function Resource({ path, name }: ResourceProps) {
  const known = operations.value
  const operation = known?.get(`GET ${path}`)
  if (known === null) {
    return (
      <Page title={name}>
        <NoDocument />
      </Page>
    )
  }
  if (operation === undefined) {
    return (
      <Page title={name}>
        <Empty title="This node's API has no such resource" />
      </Page>
    )
  }
  return <ResourceBody {...{ path, name, operation, known }} />
}

/** Until the document of the API is here nothing can be said of a resource. */
export function NoDocument() {
  const fault = documentFault.value
  return fault === '' ? <Loading /> : <Fault fault={fault} reload={() => void learnDocument()} />
}

interface BodyProps extends ResourceProps {
  readonly operation: Operation
  readonly known: Operations
}

function ResourceBody({ path, name, operation, known }: BodyProps) {
  const load = async () => (await send(path)).body
  const { value, fault, reload } = useLoad(`resource ${path}`, load, everyMs)
  const edits = useEdits()
  const lead = rowOf(path)?.lead ?? operation.summary
  return (
    <Page
      title={name}
      lead={lead}
      actions={<Actions {...{ path, known, edits, reload, isList: Array.isArray(value) }} />}
    >
      <LoadState {...{ value, fault, reload }} />
      {Array.isArray(value) && <RowList {...{ path, name, known }} rows={value as Row[]} />}
      {value !== undefined && !Array.isArray(value) && <Whole value={value} />}
      {edits.dialogs}
    </Page>
  )
}

interface ActionsProps {
  readonly path: string
  readonly known: Operations
  readonly edits: Edits
  readonly reload: () => void
  readonly isList: boolean
}

/** POST makes an entry of a list; of what is one thing POST and PUT replace it. */
function Actions({ path, known, edits, reload, isList }: ActionsProps) {
  const found = ['POST', 'PUT', 'PATCH'].flatMap((method) => known.get(`${method} ${path}`) ?? [])
  const mine = found.filter(({ needs, body }) => can(needs) && body !== undefined)
  return (
    <>
      {mine.map(({ method, summary }) => (
        <Offer
          key={method}
          operation={`${method} ${path}`}
          isPrimary
          onClick={() =>
            edits.edit({
              ...{ title: summary, operation: `${method} ${path}`, onDone: reload },
              ...(isList || method === 'POST' ? {} : { from: path, part: 'repository' }),
            })
          }
        >
          {isList ? 'New' : method === 'POST' ? 'Install' : 'Edit'}
        </Offer>
      ))}
    </>
  )
}

/** What an id stands for is shown in its place. */
const headingOf = (field: string): string => labelOf(field.replace(/(?<=.)Id$/, ''))

interface RowListProps {
  readonly path: string
  readonly name: string
  readonly known: Operations
  readonly rows: readonly Row[]
}

function RowList({ path, name, known, rows }: RowListProps) {
  const words = place.value.query.get('q') ?? ''
  const shown = rows.filter((row) => matchesQuery(words, [JSON.stringify(row)]))
  const key = keyOf(rows)
  const item = itemPathOf(path, known)
  const columns = shownFields(rows).map((field, i) => ({
    name: headingOf(field),
    show: (row: Row) => <Value name={field} value={row[field]} isShort />,
    // What a phone leaves out must be on a page of the entry.
    isExtra: item !== undefined && i > 1,
  }))
  const screen = path.slice('/api/v1/'.length).replaceAll('/', '.')
  const leadsTo = (row: Row): string => `/r/${screen}/${encodeURIComponent(String(row[key]))}`
  return (
    <>
      {rows.length > 0 && (
        <div class="row">
          <SearchBox label={`Search ${wordsIn(name)}`} />
          <span class="soft" role="status">
            {countOf(shown.length, 'entry', 'entries')}
          </span>
        </div>
      )}
      <Card>
        {rows.length === 0 ? (
          <Empty title={`No ${wordsIn(name)} yet`}>{rowOf(path)?.empty}</Empty>
        ) : shown.length === 0 ? (
          <Empty title="None has these words">Clear the search to see all.</Empty>
        ) : (
          <Table
            {...{ name, columns, rows: shown }}
            keyOf={(row) => String(row[key])}
            {...(item === undefined ? {} : { leadsTo })}
          />
        )}
      </Card>
    </>
  )
}

/** What is one thing: its plain fields together, each part with fields of its own below. */
function Whole({ value }: { value: unknown }) {
  const entries = Object.entries((value ?? {}) as Row)
  const isPart = (one: unknown): boolean =>
    one !== null && typeof one === 'object' && JSON.stringify(one).length > 60
  const plain = Object.fromEntries(entries.filter(([, one]) => !isPart(one)))
  return (
    <>
      {Object.keys(plain).length > 0 && (
        <Card>
          <Facts value={plain} />
        </Card>
      )}
      {entries
        .filter(([, one]) => isPart(one))
        .map(([name, one]) => (
          <Card key={name} title={labelOf(name)}>
            {isRows(one) ? (
              <PartTable name={labelOf(name)} rows={one} />
            ) : (
              <Facts value={one as Row} />
            )}
          </Card>
        ))}
    </>
  )
}

const isRows = (value: unknown): value is Row[] =>
  Array.isArray(value) && value.every((one) => one !== null && typeof one === 'object')

function PartTable({ name, rows }: { name: string; rows: readonly Row[] }) {
  const columns = shownFields(rows).map((field, i) => ({
    name: headingOf(field),
    show: (row: Row) => <Value name={field} value={row[field]} isShort />,
    isExtra: i > 1,
  }))
  return <Table {...{ name, columns, rows }} keyOf={(row) => JSON.stringify(row)} />
}
