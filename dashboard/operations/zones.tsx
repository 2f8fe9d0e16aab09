// The zones that this server is authoritative for, with what stands in each.
import { send } from '../api/client.ts'
import { allServices } from '../api/live.ts'
import { together, useLoad } from '../api/load.ts'
import { can } from '../api/session.ts'
import { useEdits } from '../edit/use-edits.tsx'
import { to } from '../parts/location.ts'
import { Card, Code, Copy, Empty, LoadState, Page } from '../parts/page.tsx'
import { matchesQuery } from '../parts/find.ts'
import { SearchBox } from '../parts/search-box.tsx'
import { place } from '../parts/location.ts'
import { Table } from '../parts/virtual-table.tsx'
import type { Column } from '../parts/virtual-table.tsx'
import { countOf, yamlOf } from '../parts/formats.ts'

interface Zone {
  readonly name: string
  readonly nameservers?: readonly {
    readonly name: string
    readonly addresses?: readonly string[]
  }[]
  readonly soa?: { readonly mname?: string; readonly rname?: string }
}

interface Row {
  readonly zone: Zone
  readonly services: number
}

const nameOf = (zone: Zone): string => zone.name
const screenOf = (zone: Zone): string => `/zones/${encodeURIComponent(zone.name)}`

const columns: readonly Column<Row>[] = [
  { name: 'Zone', show: ({ zone }) => nameOf(zone) },
  {
    name: 'Name servers',
    show: ({ zone }) => (zone.nameservers ?? []).map(({ name }) => name).join(', ') || '–',
  },
  { name: 'Services', show: ({ services }) => services, isNumber: true, isExtra: true },
]

/** In the settings of the repository. */
function useZones() {
  return useLoad('zones', async () => {
    const { body } = await send('/api/v1/settings')
    const { repository } = body as { readonly repository: { readonly zones?: Zone[] } | null }
    return repository?.zones ?? []
  })
}

const withDot = (name: string): string => (name.endsWith('.') ? name : `${name}.`)
const isIn = (zone: string, name: string): boolean =>
  `.${withDot(name)}`.endsWith(`.${withDot(zone)}`)

export function Zones() {
  const { value, fault, reload } = useZones()
  const { edit, dialogs } = useEdits()
  const words = place.value.query.get('q') ?? ''
  const rows = (value ?? [])
    .filter((zone) => matchesQuery(words, [zone.name]))
    .map((zone) => ({
      zone,
      services: allServices().filter(({ domain }) => isIn(zone.name, domain)).length,
    }))
  const change = (): void =>
    edit({
      ...{ title: 'Settings of the repository', operation: 'PUT /api/v1/settings' },
      ...{ from: '/api/v1/settings', part: 'repository', onDone: reload },
    })
  return (
    <Page
      title="Zones"
      lead="What this server is authoritative for."
      actions={
        can('settings:write') && (
          <>
            <a class="button" href="#/setup">
              New zone
            </a>
            <button type="button" onClick={change}>
              Edit
            </button>
          </>
        )
      }
    >
      <LoadState {...{ value, fault, reload }} />
      {value !== undefined && value.length > 0 && (
        <div class="row">
          <SearchBox label="Search zones" />
          <span class="soft" role="status">
            {countOf(rows.length, 'zone')}
          </span>
        </div>
      )}
      {value !== undefined && (
        <Card>
          {rows.length === 0 ? (
            <Empty title={value.length === 0 ? 'No zones yet' : 'No zone has these words'}>
              A zone is a name and all below it, such as example.com.
            </Empty>
          ) : (
            <Table
              name="Zones"
              {...{ columns, rows }}
              keyOf={({ zone }) => zone.name}
              leadsTo={({ zone }) => screenOf(zone)}
            />
          )}
        </Card>
      )}
      {dialogs}
    </Page>
  )
}

interface RecordRow {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly ttl: number
  readonly values: readonly string[]
}

const recordColumns: readonly Column<RecordRow>[] = [
  { name: 'Name', show: ({ name }) => name },
  { name: 'Type', show: ({ type }) => type },
  { name: 'Values', show: ({ values }) => <span class="mono">{values.join(', ')}</span> },
  { name: 'TTL', show: ({ ttl }) => `${ttl} s`, isNumber: true, isExtra: true },
]

export function ZonePage({ name }: { name: string }) {
  const zones = useZones()
  const mayRecords = can('record:read')
  const path = `/api/v1/records?zone=${encodeURIComponent(name)}`
  const records = useLoad(`records ${name}`, async () =>
    mayRecords ? ((await send(path)).body as RecordRow[]) : [],
  )
  const zone = zones.value?.find((one) => one.name === name)
  const services = allServices().filter(({ domain }) => isIn(name, domain))
  return (
    <Page title={name} lead="Zone" back={{ href: '#/zones', name: 'Zones' }}>
      <LoadState {...together(zones, records)} value={zones.value} />
      {zones.value !== undefined && zone === undefined && <Empty title="There is no such zone" />}
      {zone && (
        <Card
          title="As it is declared"
          aside={<Copy text={yamlOf(zone).trim()}>Copy as YAML</Copy>}
        >
          <Code name="The zone as YAML" text={yamlOf(zone).trim()} />
        </Card>
      )}
      <Card
        title={`Records (${records.value?.length ?? 0})`}
        aside={<a href="#/r/records">All records</a>}
      >
        {(records.value ?? []).length === 0 ? (
          <Empty title="No plain records">
            Services and name servers have records of their own.
          </Empty>
        ) : (
          <Table
            name="Records of the zone"
            columns={recordColumns}
            rows={records.value ?? []}
            keyOf={({ id }) => id}
            leadsTo={({ id }) => `/r/records/${encodeURIComponent(id)}`}
          />
        )}
      </Card>
      <Card title={`Services (${services.length})`}>
        {services.length === 0 ? (
          <Empty title="No services in this zone" />
        ) : (
          <ul class="plain lines">
            {services.slice(0, shownMax).map(({ id, domain }) => (
              <li key={id}>
                <a href={to(`/services/${encodeURIComponent(id)}`)}>{domain}</a>
              </li>
            ))}
            {services.length > shownMax && (
              <li>
                <a href={to('/services', { q: name })}>All {services.length}</a>
              </li>
            )}
          </ul>
        )}
      </Card>
    </Page>
  )
}

const shownMax = 30
