// Responses a second by their code, of this node, as a chart that grows.
import { send } from '../api/client.ts'
import { nowMs } from '../api/clock.ts'
import { useLoad } from '../api/load.ts'
import { Card, Fault } from '../parts/page.tsx'
import { Chart } from '../parts/chart.tsx'

const everyMs = 3_000
const pointsMax = 200

const series = [
  { name: 'NOERROR', color: '--chart-1' },
  { name: 'NXDOMAIN', color: '--chart-2' },
  { name: 'Others', color: '--chart-4' },
] as const

interface Point {
  readonly ms: number
  readonly responses: ReadonlyMap<string, number>
}

/** Kept while other screens are looked at. */
const points: Point[] = []

export function QueryChart() {
  const { value: data = dataOf(), fault, reload } = useLoad('responses', readOn, everyMs)
  const now = data.slice(1).map((row) => row.at(-1) ?? 0)
  const said = series.map(({ name }, i) => `${name} ${now[i]?.toFixed(1)}`).join(', ')
  return (
    <Card title="Answers a second" aside={<span class="hint">this node, by response code</span>}>
      <Fault {...{ fault, reload }} />
      {data[0]!.length < 2 ? (
        <p class="soft chart">Counting: the first points are here in a few seconds.</p>
      ) : (
        <Chart label={`Answers a second: ${said}`} {...{ series, data }} />
      )}
    </Card>
  )
}

/** Less than a second after a reading nothing is added: a rate needs time. */
async function readOn(): Promise<(number | null)[][]> {
  const responses = await readResponses()
  const ms = nowMs()
  if (ms - (points.at(-1)?.ms ?? 0) >= 1_000) points.push({ ms, responses })
  if (points.length > pointsMax) points.shift()
  return dataOf()
}

/** Rates between each two readings; a counter that has begun anew gives none. */
function dataOf(): (number | null)[][] {
  const rows: (number | null)[][] = [[], [], [], []]
  for (const [i, { ms, responses }] of points.entries()) {
    const before = points[i - 1]
    if (before === undefined) continue
    const seconds = (ms - before.ms) / 1_000
    rows[0]!.push(ms / 1_000)
    let others = 0
    const rates = new Map<string, number>()
    for (const [code, count] of responses) {
      const rate = Math.max(0, count - (before.responses.get(code) ?? 0)) / seconds
      if (series.some(({ name }) => name === code)) rates.set(code, rate)
      else others += rate
    }
    rows[1]!.push(rates.get('NOERROR') ?? 0)
    rows[2]!.push(rates.get('NXDOMAIN') ?? 0)
    rows[3]!.push(others)
  }
  return rows
}

/** How many responses were sent so far, by response code. */
async function readResponses(): Promise<ReadonlyMap<string, number>> {
  const { body } = await send('/metrics')
  return responsesIn(String(body))
}

/** @param text as Prometheus reads it */
function responsesIn(text: string): ReadonlyMap<string, number> {
  const row = /^gslbd_dns_responses_total\{rcode="([^"]*)"\} (\S+)$/gm
  return new Map([...text.matchAll(row)].map(([, code = '', count]) => [code, Number(count)]))
}
