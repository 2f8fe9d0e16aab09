// One member: health on each node over time, what the probes say, signals from outside, its weight.
import type { paths } from 'openapi-of-gslbd'
import { useEffect, useRef } from 'preact/hooks'
import { read } from '../api/client.ts'
import { nowMs } from '../api/clock.ts'
import { memberOf, poolOf, standingOf, verdictsOf, targetOf } from '../api/live.ts'
import type { Member, Standing } from '../api/live.ts'
import { useLoad } from '../api/load.ts'
import { can } from '../api/session.ts'
import { trailOf } from '../api/health-changes.ts'
import { useEdits } from '../edit/use-edits.tsx'
import { Chart } from '../parts/chart.tsx'
import { Card, Empty, Fault, LoadState, Page, StandingBadge, Time } from '../parts/page.tsx'
import { countOf } from '../parts/formats.ts'
import { Holder } from './member-change-link.tsx'
import { MemberActions } from './member-actions.tsx'
import { HealthHistory } from '../health/health-history.tsx'
import { stripsOf } from '../health/health-strip.ts'

const item = '/api/v1/members/{id}'
const statusItem = '/api/v1/members/{id}/status'
const signalsItem = '/api/v1/members/{id}/health-signals'
type Status = paths[typeof statusItem]['get']['responses'][200]['content']['application/json']

const everyMs = 5_000

export function MemberPage({ id }: { id: string }) {
  const loaded = useLoad(`member ${id}`, () => read(item, { id }))
  const status = useLoad(`status ${id}`, () => read(statusItem, { id }), everyMs)
  const edits = useEdits()
  const member = memberOf(id) ?? loaded.value
  if (member === undefined) {
    return (
      <Page title="Member" back={{ href: '#/pools', name: 'Pools' }}>
        <LoadState {...loaded} />
      </Page>
    )
  }
  const pool = poolOf(member.poolId)
  return (
    <Page
      title={targetOf(member)}
      lead={member.name === '' ? `Member of ${pool?.name ?? member.poolId}` : member.name}
      back={{
        href: `#/pools/${encodeURIComponent(member.poolId)}`,
        name: pool?.name ?? 'Pool',
      }}
      actions={<MemberActions {...{ member, edits }} />}
    >
      <Fault {...status} />
      <div class="grid">
        <Declared member={member} />
        {status.value && <NowCard status={status.value} member={member} />}
      </div>
      <HealthHistory pool={member.poolId} member={member.id} />
      <HealthSeen member={member} />
      {status.value && <RttCard id={id} rttMs={status.value.rttMs} />}
      <Signals id={id} />
      {edits.dialogs}
    </Page>
  )
}

/** How they go together with the probes. */
const signalModeLabels: Readonly<Record<Member['externalSignalMode'], string>> = {
  and: 'and the probes must both say healthy',
  or: 'or the probes, one of them is enough',
  override: 'decide alone while there are any',
}

function Declared({ member }: { member: Member }) {
  const { port, weight, declaredWeight, priority, region, heldBy, externalSignalMode } = member
  return (
    <Card title="As it is declared">
      <dl class="facts">
        <dt>Port</dt>
        <dd>{port}</dd>
        <dt>Weight</dt>
        <dd>
          {weight}
          {weight !== declaredWeight && ` of ${declaredWeight}`}
        </dd>
        <dt>Priority</dt>
        <dd>{priority}</dd>
        <dt>Region</dt>
        <dd>{region}</dd>
        <dt>Signals from outside</dt>
        <dd>{signalModeLabels[externalSignalMode]}</dd>
        {heldBy !== null && (
          <>
            <dt>Held by</dt>
            <dd>
              <Holder heldBy={heldBy} />
            </dd>
          </>
        )}
      </dl>
    </Card>
  )
}

function NowCard({ status, member }: { status: Status; member: Member }) {
  const { score, lastCheck, healthyNodes, totalNodes, nodes, warming, resolveError } = status
  return (
    <Card title="Now" aside={<StandingBadge standing={standingOf(member)} />}>
      <dl class="facts">
        <dt>Healthy for</dt>
        <dd>
          {status.probed ? `${healthyNodes} of ${countOf(totalNodes, 'node')}` : 'nobody probes it'}
        </dd>
        <dt>Score</dt>
        <dd>{score.toLocaleString(undefined, { maximumFractionDigits: 2 })}</dd>
        <dt>Last probe</dt>
        <dd>
          <Time ms={lastCheck} />
        </dd>
        {warming && (
          <>
            <dt>Warming up</dt>
            <dd>
              {status.warmupPasses} of {status.warmupThreshold} probes have passed
            </dd>
          </>
        )}
        {resolveError && (
          <>
            <dt>Its name</dt>
            <dd>{resolveError}</dd>
          </>
        )}
      </dl>
      <ul class="plain lines">
        {nodes.map(({ node, healthy, reason, since }) => (
          <li key={node}>
            <StandingBadge standing={foundOf(status.probed, healthy)} /> for {node}{' '}
            <span class="hint">
              <Time ms={since} /> {reason}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}

const foundOf = (isProbed: boolean, healthy: boolean): Standing =>
  !isProbed ? 'unknown' : healthy ? 'up' : 'down'

function HealthSeen({ member }: { member: Member }) {
  const strips = stripsOf(verdictsOf(member.id), trailOf(member.id), nowMs())
  return (
    <Card title="As each node finds it" aside={<span class="hint">the last 30 minutes</span>}>
      {strips.length === 0 ? (
        <Empty title="Not probed yet">The verdict of each node is drawn here as it changes.</Empty>
      ) : (
        <ul class="plain stack">
          {strips.map(({ node, parts, words }) => (
            <li key={node}>
              <div class="split hint">
                <span>{node}</span>
                <span>{words}</span>
              </div>
              <div class="strip" role="img" aria-label={`${node}: ${words}`}>
                {parts.map(({ left, width, tone }) => (
                  <span key={left} class={tone} style={{ left: `${left}%`, width: `${width}%` }} />
                ))}
              </div>
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

const series = [{ name: 'RTT in ms', color: '--chart-3' }] as const
const pointsMax = 360

/** Grows while it is looked at: the API has the last value only. */
function RttCard({ id, rttMs }: { id: string; rttMs: number }) {
  const points = useRef<{ id: string; times: number[]; values: number[] }>({
    ...{ id, times: [], values: [] },
  })
  const { times, values } = points.current
  useEffect(() => {
    times.push(nowMs() / 1_000)
    values.push(rttMs)
    if (times.length > pointsMax) {
      times.shift()
      values.shift()
    }
  })
  if (rttMs === 0) return null
  return (
    <Card title="Round trip time" aside={<span class="hint">{rttMs.toFixed(1)} ms now</span>}>
      {times.length < 2 ? (
        <p class="soft chart">Measuring: the first points are here in a few seconds.</p>
      ) : (
        <Chart
          label={`Round trip time, now ${rttMs.toFixed(1)} ms`}
          {...{ series, data: [times.slice(0), values.slice(0)] }}
        />
      )}
    </Card>
  )
}

function Signals({ id }: { id: string }) {
  const may = can('member:read')
  const load = async () => (may ? read(signalsItem, { id }) : [])
  const { value, fault, reload } = useLoad(`signals ${id}`, load, everyMs)
  return (
    <Card title="Signals from outside">
      <LoadState {...{ value, fault, reload }} />
      {value?.length === 0 && (
        <Empty title="No monitor has said anything">
          Outside monitors post what they find to /api/v1/members/{id}/health-signal.
        </Empty>
      )}
      <ul class="plain lines">
        {value?.map(({ source, healthy, score, postedAt, expiresAt }) => (
          <li key={source} class="split">
            <span>
              <StandingBadge standing={healthy ? 'up' : 'down'} /> {source}
              {score !== null && <span class="soft"> score {score}</span>}
            </span>
            <span class="hint">
              <Time ms={msOf(postedAt)} />, expires <Time ms={msOf(expiresAt)} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}

const msOf = (time: number): number => (time > 1e11 ? time : time * 1_000)
