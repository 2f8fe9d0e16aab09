// Real-user measurement: how many networks have measured each member, on the map and in a list.
import type { paths } from 'openapi-of-gslbd'
import { read } from '../api/client.ts'
import { allMembers, memberOf, poolOf } from '../api/live.ts'
import { useLoad } from '../api/load.ts'
import { WorldMap } from '../map/world-map.tsx'
import { Card, Empty, LoadState, Page } from '../parts/page.tsx'
import { Table } from '../parts/virtual-table.tsx'
import type { Column } from '../parts/virtual-table.tsx'
import { countOf } from '../parts/formats.ts'
import { marksOf, useLocations } from '../screens/member-map.tsx'

type Coverage = paths['/api/v1/rum/status']['get']['responses'][200]['content']['application/json']
type Row = Coverage['members'][number]

const everyMs = 10_000

const columns: readonly Column<Row>[] = [
  { name: 'Member', show: ({ ipAddress }) => <span class="mono">{ipAddress}</span> },
  { name: 'Pool', show: ({ poolId }) => poolOf(poolId)?.name ?? poolId },
  { name: 'Region', show: ({ memberId }) => memberOf(memberId)?.region ?? '–', isExtra: true },
  { name: 'Networks', show: ({ subnets }) => subnets.toLocaleString(), isNumber: true },
]

export function CoverageScreen() {
  const { value, fault, reload } = useLoad('rum', () => read('/api/v1/rum/status'), everyMs)
  return (
    <Page title="User measurement" lead="How far browsers of users have measured your members.">
      <LoadState {...{ value, fault, reload }} />
      {value !== undefined && <Covered value={value} />}
    </Page>
  )
}

function Covered({ value }: { value: Coverage }) {
  const locations = useLocations()
  const measured = new Map(value.members.map(({ memberId, subnets }) => [memberId, subnets]))
  const asked = allMembers().filter(({ id, rumUrl }) => rumUrl !== '' || measured.has(id))
  const { marks } = marksOf(asked, locations, {
    of: ({ id }) => measured.get(id) ?? 0,
    one: 'network',
  })
  return (
    <>
      <div class="tiles">
        <div class="card tile">
          <span class="name">Networks that have measured</span>
          <span class="figure">{value.subnets.toLocaleString()}</span>
          <span class="hint">as seen by this node, and still fresh</span>
        </div>
        <div class="card tile">
          <span class="name">Measurements</span>
          <span class="figure">{value.measurements.toLocaleString()}</span>
          <span class="hint">one for each network and member</span>
        </div>
        <div class="card tile">
          <span class="name">Members with a rumUrl</span>
          <span class="figure">{asked.length.toLocaleString()}</span>
          <span class="hint">of {countOf(allMembers().length, 'member')}</span>
        </div>
      </div>
      {marks.length > 0 && (
        <Card title="Networks by place of the member">
          <WorldMap name="Networks that have measured, by place" marks={marks} />
        </Card>
      )}
      <Card title="By member">
        {value.members.length === 0 ? (
          <Empty title="Nothing is measured yet">
            Give members a rumUrl and put the script /api/v1/rum.js into your pages.
          </Empty>
        ) : (
          <Table
            name="Members by measurements"
            {...{ columns, rows: value.members }}
            keyOf={({ memberId }) => memberId}
            leadsTo={({ memberId }) => `/members/${encodeURIComponent(memberId)}`}
          />
        )}
      </Card>
    </>
  )
}
