// Maintenance windows and rollouts on one line of time: what was, what runs, what will happen.
import type { paths } from 'openapi-of-gslbd'
import { read } from '../api/client.ts'
import { nowMs } from '../api/clock.ts'
import { memberOf, poolOf, targetOf } from '../api/live.ts'
import { useLoad } from '../api/load.ts'
import { can } from '../api/session.ts'
import { Offer } from '../edit/call-button.tsx'
import { useEdits } from '../edit/use-edits.tsx'
import { place, setQuery } from '../parts/location.ts'
import { Badge, Card, Empty, LoadState, Page } from '../parts/page.tsx'
import type { Tone } from '../parts/page.tsx'
import { localOf, utcOf } from '../parts/formats.ts'
import { lineAround, shareOf, stretchOf, ticksOf } from './time-line.ts'
import type { Line } from './time-line.ts'

type Body<P extends '/api/v1/maintenance-windows' | '/api/v1/rollouts'> =
  paths[P]['get']['responses'][200]['content']['application/json'][number]

interface Event {
  readonly key: string
  readonly kind: string
  readonly name: string
  readonly state: string
  readonly tone: Tone
  readonly startMs: number
  readonly endMs: number | undefined
  readonly path: string
}

const everyMs = 30_000
const ranges: Readonly<Record<string, number>> = { day: 24, week: 168, month: 720 }

const windowTones = { scheduled: 'info', active: 'warn', completed: 'plain' } as const
const rolloutTones: Readonly<Record<Body<'/api/v1/rollouts'>['state'], Tone>> = {
  ...{ pending: 'info', running: 'good', paused: 'warn' },
  ...{ promoted: 'plain', rolled_back: 'bad' },
}

const nameOfMember = (id: string): string => {
  const member = memberOf(id)
  return member === undefined ? id : targetOf(member)
}

function windowEvent(one: Body<'/api/v1/maintenance-windows'>): Event {
  const { id, resourceType, resourceId, status } = one
  const isPool = resourceType === 'pool'
  const name = isPool ? (poolOf(resourceId)?.name ?? resourceId) : nameOfMember(resourceId)
  return {
    ...{ key: `window ${id}`, kind: 'Maintenance', name, state: status, tone: windowTones[status] },
    ...{ startMs: Date.parse(one.startAt), endMs: Date.parse(one.endAt) },
    path: `/r/maintenance-windows/${encodeURIComponent(id)}`,
  }
}

function rolloutEvent(one: Body<'/api/v1/rollouts'>): Event {
  const { id, poolId, memberId, state, startAt, settledAt, steps, currentStep } = one
  const pool = poolOf(poolId)?.name ?? poolId
  const isOver = settledAt !== null
  const startMs = Date.parse(startAt)
  const wholeMs = steps.reduce((sum, { holdSeconds }) => sum + holdSeconds * 1_000, 0)
  const step = isOver ? '' : `, step ${Math.max(0, currentStep) + 1} of ${steps.length}`
  return {
    ...{ key: `rollout ${id}`, kind: 'Rollout', name: `${nameOfMember(memberId)} in ${pool}` },
    ...{ state: `${state}${step}`, tone: rolloutTones[state], startMs },
    endMs: isOver ? Date.parse(settledAt) : state === 'paused' ? undefined : startMs + wholeMs,
    path: `/r/rollouts/${encodeURIComponent(id)}`,
  }
}

export function Timeline() {
  const mayWindows = can('maintenance:read')
  const mayRollouts = can('rollout:read')
  const load = async (): Promise<Event[]> => {
    const windows = mayWindows ? await read('/api/v1/maintenance-windows') : []
    const rollouts = mayRollouts ? await read('/api/v1/rollouts') : []
    return [...windows.map(windowEvent), ...rollouts.map(rolloutEvent)]
  }
  const { value, fault, reload } = useLoad('timeline', load, everyMs)
  const { edit, dialogs } = useEdits()
  const asked = place.value.query.get('range') ?? ''
  const range = Object.hasOwn(ranges, asked) ? asked : 'week'
  const line = lineAround(nowMs(), ranges[range]!)
  const events = (value ?? []).toSorted((a, b) => a.startMs - b.startMs)
  const shown = events.filter(({ startMs, endMs }) => stretchOf(line, startMs, endMs) !== undefined)
  const plan = (title: string, operation: string): void =>
    edit({ title, operation, onDone: reload })
  return (
    <Page
      title="Timeline"
      lead="Rollouts and maintenance windows: what was, what runs, what will happen."
      actions={
        <>
          {can('maintenance:write') && (
            <button
              type="button"
              onClick={() => plan('New window', 'POST /api/v1/maintenance-windows')}
            >
              New window
            </button>
          )}
          <Offer
            operation="POST /api/v1/rollouts"
            onClick={() => plan('New rollout', 'POST /api/v1/rollouts')}
          >
            New rollout
          </Offer>
        </>
      }
    >
      <Card title="Events" aside={<RangeSelect value={range} />}>
        <LoadState {...{ value, fault, reload }} />
        {value !== undefined && shown.length === 0 && (
          <Empty title={events.length === 0 ? 'Nothing is planned' : 'Nothing in this time'}>
            Plan a window before you work on a machine; begin a rollout when a member is new.
          </Empty>
        )}
        {shown.length > 0 && <Rows line={line} events={shown} />}
      </Card>
      {dialogs}
    </Page>
  )
}

function RangeSelect({ value }: { value: string }) {
  return (
    <select
      class="narrow"
      aria-label="Time that is shown"
      value={value}
      onChange={(event) => setQuery('range', event.currentTarget.value)}
    >
      {Object.keys(ranges).map((name) => (
        <option key={name} value={name}>
          a {name}
        </option>
      ))}
    </select>
  )
}

const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })
const hour = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
const ticksMax = 8
/** From here on the words of a tick stand before it, not beyond the end of the line. */
const lastShare = 88

function Rows({ line, events }: { line: Line; events: readonly Event[] }) {
  const isShort = line.toMs - line.fromMs < 2 * 86_400_000
  return (
    <div class="timeline">
      <div class="timeline-row" aria-hidden="true">
        <span />
        <div class="timeline-track head">
          {ticksOf(line, ticksMax).map((ms) => {
            const share = shareOf(line, ms)
            return (
              <span
                key={ms}
                class={`tick${share > lastShare ? ' last' : ''}`}
                style={{ left: `${share}%` }}
              >
                {isShort ? hour.format(ms) : day.format(ms)}
              </span>
            )
          })}
        </div>
      </div>
      <ul class="plain">
        {events.map((event) => (
          <EventRow key={event.key} {...{ line, event }} />
        ))}
      </ul>
    </div>
  )
}

function EventRow({ line, event }: { line: Line; event: Event }) {
  const { kind, name, state, tone, startMs, endMs, path } = event
  const { left, width } = stretchOf(line, startMs, endMs)!
  const end = endMs === undefined ? 'nobody knows' : localOf(endMs)
  const utc = `${utcOf(startMs)} to ${endMs === undefined ? '…' : utcOf(endMs)}`
  return (
    <li class="timeline-row">
      <div>
        <a href={`#${path}`}>{name}</a>
        <div class="hint">
          {kind} <Badge tone={tone}>{state.replace('_', ' ')}</Badge>
        </div>
      </div>
      <div class="timeline-track">
        <span
          class={`stretch ${tone}`}
          style={{ left: `${left}%`, width: `${width}%` }}
          title={utc}
        />
        <span class="now" style={{ left: `${shareOf(line, nowMs())}%` }} aria-hidden="true" />
        <span class="visually-hidden">
          from {localOf(startMs)} to {end}
        </span>
      </div>
    </li>
  )
}
