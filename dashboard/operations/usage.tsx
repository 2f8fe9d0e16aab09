// Queries and calls of the API by hour of the last week, as charts and as a list.
import type { paths } from 'openapi-of-gslbd'
import { send } from '../api/client.ts'
import { nowMs } from '../api/clock.ts'
import { useLoad } from '../api/load.ts'
import { Chart } from '../parts/chart.tsx'
import { Card, Empty, LoadState, Page, Time } from '../parts/page.tsx'
import { Table } from '../parts/virtual-table.tsx'
import type { Column } from '../parts/virtual-table.tsx'
import { countOf } from '../parts/formats.ts'

type Row = paths['/api/v1/usage']['get']['responses'][200]['content']['application/json'][number]

const shownMs = 7 * 24 * 3_600_000

/** `2026-01-31T09`, of UTC. */
const msOf = (period: string): number => Date.parse(`${period}:00:00Z`)
const periodOf = (ms: number): string => new Date(ms).toISOString().slice(0, 13)

/** Without a range the API gives the day so far: after midnight that is nothing. */
async function lastWeek(): Promise<readonly Row[]> {
  const query = new URLSearchParams({ from: periodOf(nowMs() - shownMs), to: periodOf(nowMs()) })
  return (await send(`/api/v1/usage?${query.toString()}`)).body as readonly Row[]
}

const columns: readonly Column<Row>[] = [
  { name: 'Hour', show: ({ period }) => <Time ms={msOf(period)} isWhole /> },
  { name: 'Tenant', show: ({ tenantId }) => tenantId, isExtra: true },
  { name: 'Queries', show: ({ dnsQueries }) => dnsQueries.toLocaleString(), isNumber: true },
  { name: 'API calls', show: ({ apiCalls }) => apiCalls.toLocaleString(), isNumber: true },
]

const charts = [
  {
    field: 'dnsQueries',
    title: 'DNS queries',
    series: [{ name: 'DNS queries', color: '--chart-1' }],
  },
  {
    field: 'apiCalls',
    title: 'API calls',
    series: [{ name: 'API calls', color: '--chart-3' }],
  },
] as const

export function Usage() {
  const { value, fault, reload } = useLoad('usage', lastWeek)
  return (
    <Page title="Usage" lead="Queries and calls of the last week, by hour.">
      <LoadState {...{ value, fault, reload }} />
      {value?.length === 0 && (
        <Card>
          <Empty title="Nothing is counted yet">Counts are written every few minutes.</Empty>
        </Card>
      )}
      {value !== undefined && value.length > 0 && <Counted rows={value} />}
    </Page>
  )
}

function Counted({ rows }: { rows: readonly Row[] }) {
  const byHour = Map.groupBy(rows, ({ period }) => period)
  const hours = [...byHour.keys()].toSorted()
  return (
    <>
      <div class="grid">
        {charts.map(({ field, title, series }) => {
          const counts = hours.map((hour) =>
            (byHour.get(hour) ?? []).reduce((sum, row) => sum + row[field], 0),
          )
          const all = counts.reduce((sum, one) => sum + one, 0)
          return (
            <Card key={field} title={title} aside={<span class="hint">by hour</span>}>
              <p class="figure">{all.toLocaleString()}</p>
              <p class="hint">in {countOf(hours.length, 'hour')}</p>
              {hours.length > 1 && (
                <Chart
                  label={`${title} by hour, ${all} in all`}
                  series={series}
                  data={[hours.map((hour) => msOf(hour) / 1_000), counts]}
                />
              )}
            </Card>
          )
        })}
      </div>
      <Card title="By hour">
        <Table
          name="Usage by hour"
          columns={columns}
          rows={rows.toSorted((a, b) => (a.period < b.period ? 1 : -1))}
          keyOf={({ tenantId, period }) => `${tenantId} ${period}`}
        />
      </Card>
    </>
  )
}
