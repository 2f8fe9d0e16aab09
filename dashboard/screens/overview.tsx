// The first screen: is all well, who is asked, what changed, what is held, what will happen.
import type { ComponentChildren } from 'preact'
import { read } from '../api/client.ts'
import { together, useLoad } from '../api/load.ts'
import {
  allMembers,
  allPools,
  allServices,
  memberOf,
  poolOf,
  standingOf,
  verdictsOf,
  targetOf,
} from '../api/live.ts'
import type { Member } from '../api/live.ts'
import { can } from '../api/session.ts'
import { to } from '../parts/location.ts'
import { NotKnown, isKnown } from '../parts/not-known.tsx'
import { Badge, Card, Empty, Fault, LoadState, Page, StandingBadge, Time } from '../parts/page.tsx'
import { countOf } from '../parts/formats.ts'
import { useAuthors } from '../history/authors.ts'
import { CommitLine } from '../history/changes.tsx'
import { SyncBadge } from './git.tsx'
import type { GitStatus } from './git.tsx'
import { fleetHealthOf } from '../health/fleet-health.ts'
import { HealthBar, barOf } from '../health/health-bar.tsx'
import { MemberMap } from './member-map.tsx'
import { QueryChart } from './query-chart.tsx'

const everyMs = 5_000

export function Overview() {
  const health = useLoad('health', () => read('/api/v1/health'), everyMs)
  const mayGit = can('settings:read')
  const git = useLoad(
    'overview git',
    async () => (mayGit ? read('/api/v1/gitops/status') : null),
    everyMs,
  )
  const mayNodes = can('cluster:status')
  const nodes = useLoad(
    'overview nodes',
    async () => (mayNodes ? read('/api/v1/cluster/nodes') : []),
    everyMs,
  )
  const fleet = fleetHealthOf(nodes.value ?? [])
  const members = allMembers()
  const counts = barOf(members.map(standingOf))
  const faulty = members.filter((one) => ['down', 'split'].includes(standingOf(one)))
  return (
    <Page title="Overview">
      <Fault {...together(health, git, nodes)} />
      <div class="tiles">
        <Tile name="This node" href="#/git">
          <span class="figure">
            {health.value === undefined ? '…' : labels[health.value.status]}
          </span>
          <span class="hint">
            {health.value &&
              (health.value.reasons.map(({ message }) => message).join('; ') ||
                'It answers, and its parts are sound.')}
          </span>
        </Tile>
        {fleet !== null && (
          <Tile name="Other nodes" href="#/r/cluster.nodes">
            <span class="figure">{fleet.figure}</span>
            <span class="hint">{fleet.hint}</span>
          </Tile>
        )}
        <Tile name="Members" href="#/pools">
          <span class="figure">{isKnown() ? `${counts.up} of ${counts.all} up` : '…'}</span>
          {isKnown() && <HealthBar counts={counts} />}
        </Tile>
        <Tile name="Services" href="#/services">
          <span class="figure">{isKnown() ? allServices().length.toLocaleString() : '…'}</span>
          {isKnown() && <span class="hint">in {countOf(allPools().length, 'pool')}</span>}
        </Tile>
        {git.value && <GitTile status={git.value} />}
      </div>
      <Held status={git.value ?? null} />
      <MemberMap />
      {mayNodes && <QueryChart />}
      <div class="grid">
        <FaultCard members={faulty} isEmpty={members.length === 0} />
        {can('history:read') && <RecentChanges />}
        <Coming />
      </div>
    </Page>
  )
}

const labels = { ok: 'All well', degraded: 'Degraded', starting: 'Starting' } as const

interface TileProps {
  readonly name: string
  readonly href: string
  readonly children: ComponentChildren
}

function Tile({ name, href, children }: TileProps) {
  return (
    <a class="card tile" href={href}>
      <span class="name">{name}</span>
      {children}
    </a>
  )
}

function GitTile({ status }: { status: GitStatus }) {
  return (
    <Tile name="Configuration" href="#/git">
      <span class="figure mono">{status.active?.slice(0, 8) ?? 'none'}</span>
      <span class="hint row">
        <SyncBadge sync={status.sync} /> made <Time ms={status.node.issuedAtMs ?? 0} />
      </span>
    </Tile>
  )
}

function Held({ status }: { status: GitStatus | null }) {
  if (status === null || status.reason === null) return null
  return (
    <div class="notice warn split" role="alert">
      <p>
        <strong>A commit is not taken:</strong> {status.reason.message}
      </p>
      <a href="#/git">What to do</a>
    </div>
  )
}

interface FaultCardProps {
  readonly members: readonly Member[]
  readonly isEmpty: boolean
}

const shownMax = 8

function FaultCard({ members, isEmpty }: FaultCardProps) {
  return (
    <Card title="Not healthy">
      {!isKnown() ? (
        <NotKnown />
      ) : members.length === 0 ? (
        <Empty title={isEmpty ? 'No members yet' : 'Nothing is down'}>
          {isEmpty
            ? 'Make a pool and give it members: they are watched from then on.'
            : 'Members that fail their probes are listed here.'}
        </Empty>
      ) : (
        <ul class="plain lines">
          {members.slice(0, shownMax).map((member) => (
            <li key={member.id} class="split">
              <div>
                <a href={to(`/pools/${encodeURIComponent(member.poolId)}`)}>
                  {poolOf(member.poolId)?.name ?? 'pool'}
                </a>{' '}
                <a class="mono" href={to(`/members/${encodeURIComponent(member.id)}`)}>
                  {targetOf(member)}
                </a>
                <div class="hint">{reasonOf(member)}</div>
              </div>
              <StandingBadge standing={standingOf(member)} />
            </li>
          ))}
          {members.length > shownMax && (
            <li>
              <a href={to('/pools', { only: 'with a fault' })}>All {members.length}</a>
            </li>
          )}
        </ul>
      )}
    </Card>
  )
}

const reasonOf = ({ id }: Member): string =>
  [...verdictsOf(id).values()].find(({ reason }) => reason !== '')?.reason ?? ''

function RecentChanges() {
  const { value, fault, reload } = useLoad('history', () => read('/api/v1/history'))
  const authorOf = useAuthors()
  return (
    <Card title="What changed last" aside={<a href="#/changes">All changes</a>}>
      <LoadState {...{ value, fault, reload }} />
      {value?.length === 0 && <Empty title="Nothing has changed yet" />}
      <ul class="plain lines">
        {value?.slice(0, 5).map((commit) => (
          <li key={commit.commit}>
            <CommitLine commit={commit} author={authorOf(commit.author)} />
          </li>
        ))}
      </ul>
    </Card>
  )
}

/** Name of a pool or a member. */
function nameOf(id: string): string {
  const member = memberOf(id)
  return poolOf(id)?.name ?? (member === undefined ? id : targetOf(member))
}

/** Windows and rollouts that are not over. */
function Coming() {
  const mayWindows = can('maintenance:read')
  const mayRollouts = can('rollout:read')
  const windows = useLoad('windows', async () =>
    mayWindows ? read('/api/v1/maintenance-windows') : [],
  )
  const rollouts = useLoad('rollouts', async () => (mayRollouts ? read('/api/v1/rollouts') : []))
  if (!mayWindows && !mayRollouts) return null
  const open = (windows.value ?? []).filter(({ status }) => status !== 'completed')
  const running = (rollouts.value ?? []).filter(
    ({ state }) => state !== 'promoted' && state !== 'rolled_back',
  )
  return (
    <Card title="What will happen" aside={<a href="#/timeline">Timeline</a>}>
      <Fault {...together(windows, rollouts)} />
      {open.length + running.length === 0 && (
        <Empty title="Nothing is planned">
          Maintenance windows and rollouts that lie ahead, or run, are listed here.
        </Empty>
      )}
      <ul class="plain lines">
        {open.map((one) => (
          <li key={one.id} class="split">
            <span>
              <a href="#/r/maintenance-windows">Maintenance</a> of {one.resourceType}{' '}
              {nameOf(one.resourceId)}:{' '}
              <Time ms={Date.parse(one.status === 'active' ? one.endAt : one.startAt)} />
            </span>
            <Badge tone={one.status === 'active' ? 'warn' : 'info'}>
              {one.status === 'active' ? 'ends then' : 'begins then'}
            </Badge>
          </li>
        ))}
        {running.map((one) => (
          <li key={one.id} class="split">
            <span>
              <a href="#/r/rollouts">Rollout</a> in {poolOf(one.poolId)?.name ?? one.poolId}:
              {` step ${one.currentStep + 1} of ${one.steps.length}`}
            </span>
            <Badge tone="info">{one.state}</Badge>
          </li>
        ))}
      </ul>
    </Card>
  )
}
