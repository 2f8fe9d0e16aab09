// Health over hours or days, as the journal of the node has it: a strip of each member and node.
import { useState } from 'preact/hooks'
import type { paths } from 'openapi-of-gslbd'
import { Refusal, send } from '../api/client.ts'
import { memberOf, targetOf } from '../api/live.ts'
import { useLoad } from '../api/load.ts'
import { Card, Empty, LoadState, Time } from '../parts/page.tsx'
import { spanOf } from '../parts/formats.ts'
import { summaryOf, stretchText } from './history-text.ts'
import type { Stretch } from './history-text.ts'

type History =
  paths['/api/v1/pools/{id}/health-history']['get']['responses'][200]['content']['application/json']

const ranges = { '24 hours': 24, '7 days': 168 } as const
type Range = keyof typeof ranges

const everyMs = 60_000

interface HistoryProps {
  readonly pool: string
  /** One of its members; left out: all. */
  readonly member?: string
}

export function HealthHistory({ pool, member }: HistoryProps) {
  const [range, setRange] = useState<Range>('24 hours')
  const query = new URLSearchParams({
    hours: String(ranges[range]),
    ...(member === undefined ? {} : { member }),
  }).toString()
  const path = `/api/v1/pools/${encodeURIComponent(pool)}/health-history?${query}`
  const { value, fault, reload } = useLoad(path, () => historyOrNone(path), everyMs)
  const none = typeof value === 'string' ? value : ''
  const found = typeof value === 'string' ? undefined : value
  return (
    <Card title="Health over time" aside={<RangeChoice {...{ range, setRange }} />}>
      {value === undefined && <LoadState {...{ value, fault, reload }} />}
      {none !== '' && <Empty title="Nothing is kept of the past">{none}.</Empty>}
      {found?.nodes.every(({ members }) => members.length === 0) === true && (
        <Empty title="No members yet">What the node finds of each is drawn here.</Empty>
      )}
      {found?.nodes.map(({ node, members }) => (
        <div class="stack" key={node} role="group" aria-label={`As ${node} answered`}>
          {members.map(({ memberId, stretches }) => (
            <HistoryRow
              key={memberId}
              {...{ memberId, stretches, node, from: found.from, to: found.to }}
            />
          ))}
        </div>
      ))}
      {found !== undefined && <Scale {...{ from: found.from, to: found.to }} />}
    </Card>
  )
}

/** @returns the sentence of a node that keeps no journal */
async function historyOrNone(path: string): Promise<History | string> {
  try {
    return (await send(path)).body as History
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return error.message
    throw error
  }
}

interface RangeProps {
  readonly range: Range
  readonly setRange: (range: Range) => void
}

function RangeChoice({ range, setRange }: RangeProps) {
  return (
    <div class="row" role="group" aria-label="How far back">
      {(Object.keys(ranges) as Range[]).map((one) => (
        <button
          key={one}
          type="button"
          class="small"
          aria-pressed={one === range}
          onClick={() => setRange(one)}
        >
          {one}
        </button>
      ))}
    </div>
  )
}

interface RowProps {
  readonly memberId: string
  readonly node: string
  readonly stretches: readonly Stretch[]
  readonly from: number
  readonly to: number
}

function HistoryRow({ memberId, node, stretches, from, to }: RowProps) {
  const [chosen, setChosen] = useState<number | null>(null)
  const member = memberOf(memberId)
  const name = member === undefined ? memberId : targetOf(member)
  const shown = chosen === null ? undefined : stretches[chosen]
  const step = (by: number): void => {
    const last = stretches.length - 1
    setChosen((before) => Math.min(last, Math.max(0, before === null ? last : before + by)))
  }
  const follow = ({ key }: KeyboardEvent): void => {
    if (key === 'ArrowLeft') step(-1)
    if (key === 'ArrowRight') step(1)
    if (key === 'Escape') setChosen(null)
  }
  const point = (event: MouseEvent): void => {
    const { left, width } = (event.currentTarget as Element).getBoundingClientRect()
    const at = from + ((event.clientX - left) / width) * (to - from)
    setChosen(stretches.findIndex((one) => at < one.to))
  }
  const words = shown === undefined ? summaryOf(stretches, to - from) : stretchText(shown)
  return (
    <div>
      <div class="split hint">
        <span>
          <span class="mono">{name}</span> for {node}
        </span>
        <span>{words}</span>
      </div>
      <div
        class="strip readable"
        tabIndex={0}
        role="slider"
        aria-label={`${name} for ${node}, over time`}
        aria-valuemin={0}
        aria-valuemax={stretches.length - 1}
        aria-valuenow={chosen ?? stretches.length - 1}
        aria-valuetext={words}
        onKeyDown={follow}
        onMouseMove={point}
        onMouseLeave={() => setChosen(null)}
        onFocus={() => setChosen((before) => before ?? stretches.length - 1)}
        onBlur={() => setChosen(null)}
      >
        {stretches.map((one, i) => (
          <span
            key={one.from}
            class={`${one.state}${i === chosen ? ' chosen' : ''}`}
            style={{
              left: `${(100 * (one.from - from)) / (to - from)}%`,
              width: `${(100 * (one.to - one.from)) / (to - from)}%`,
            }}
          />
        ))}
      </div>
    </div>
  )
}

function Scale({ from, to }: { from: number; to: number }) {
  return (
    <>
      <div class="split hint" aria-hidden="true">
        <Time ms={from} isWhole />
        <span>now</span>
      </div>
      <ul class="plain legend" aria-label="Colours">
        <li class="good">up</li>
        <li class="bad">down</li>
        <li class="warn">warming up, or without an address</li>
        <li class="held">held out or disabled</li>
        <li class="unprobed">not probed</li>
        <li class="nothing">not known</li>
      </ul>
      <p class="hint">
        Of {spanOf(Math.round((to - from) / 1_000))}, from the journals that this node can read.
        Point at a strip, or step through it with the arrow keys, for the time and the reason.
      </p>
    </>
  )
}
