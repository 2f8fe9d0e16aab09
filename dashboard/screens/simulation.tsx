// The way to an answer, drawn: each step with who passed it, and the members with their standing.
import type { paths } from 'openapi-of-gslbd'
import { Badge } from '../parts/page.tsx'
import type { Tone } from '../parts/page.tsx'
import { Table } from '../parts/virtual-table.tsx'
import type { Column } from '../parts/virtual-table.tsx'

export type Simulation =
  paths['/api/v1/simulate']['post']['responses'][200]['content']['application/json']
type Routed = NonNullable<Simulation['service']>
type Member = Routed['members'][number]

export interface Question {
  readonly name: string
  readonly type: string
  readonly client: string
  readonly subnet: string
  readonly at: string
  /** Empty: the one that answers now. */
  readonly commit: string
}

export function StepList({ service }: { service: Routed }) {
  const { candidates, members, steps, picks, fallback, geoRule } = service
  const out = members.filter(({ ipAddress }) => !candidates.includes(ipAddress))
  return (
    <ol class="plain steps">
      <li class="step">
        <h3>Candidates: {candidates.length === 0 ? 'none' : candidates.length}</h3>
        <p class="soft">
          {fallback !== null && `The pool has none, so ${fallback} answers in its place. `}
          {geoRule !== null && `A geo rule sends this client to ${geoRule}. `}
          {out.length === 0 ? 'Every member may answer.' : `${out.length} may not answer now.`}
        </p>
        <Chips before={members.map(({ ipAddress }) => ipAddress)} after={candidates} />
      </li>
      {steps.map((step, i) => (
        <li class="step" key={i}>
          <h3>{step.name.startsWith('script:') ? 'script' : step.name}</h3>
          <p class="soft">{step.reason}</p>
          <Chips before={step.before} after={step.after} />
        </li>
      ))}
      <li class="step">
        <h3>Answer</h3>
        <Chips before={picks} after={picks} />
        {picks.length === 0 && <p class="soft">No address.</p>}
      </li>
    </ol>
  )
}

/** First those that go on, in their order. */
function Chips({ before, after }: { before: readonly string[]; after: readonly string[] }) {
  const gone = before.filter((one) => !after.includes(one))
  return (
    <ul class="plain chips">
      {after.map((one, i) => (
        <li class="chip kept" key={`${one} ${i}`}>
          {one}
        </li>
      ))}
      {gone.map((one, i) => (
        <li class="chip gone" key={`${one} ${i} gone`}>
          <span class="visually-hidden">left out: </span>
          {one}
        </li>
      ))}
    </ul>
  )
}

const tones: Readonly<Record<Member['standing'], Tone>> = {
  candidate: 'good',
  disabled: 'plain',
  unhealthy: 'bad',
  warming: 'warn',
  maintenance: 'warn',
  'weight-0': 'plain',
  'below-min-healthy': 'bad',
}

const columns: readonly Column<Member>[] = [
  {
    name: 'Member',
    show: ({ ipAddress, name }) => (
      <>
        <span class="mono">{ipAddress}</span>
        {name !== '' && <span class="soft"> {name}</span>}
      </>
    ),
  },
  { name: 'Standing', show: ({ standing }) => <Badge tone={tones[standing]}>{standing}</Badge> },
  { name: 'Weight', show: ({ weight }) => weight, isNumber: true },
  { name: 'Priority', show: ({ priority }) => priority, isNumber: true, isExtra: true },
  {
    ...{ name: 'RTT', isNumber: true },
    show: ({ rttMs }) => (rttMs === 0 ? '–' : `${rttMs.toFixed(1)} ms`),
  },
]

export function SimulatedMembers({ service }: { service: Routed }) {
  return (
    <Table
      {...{ name: 'Members of the pool', columns, rows: service.members }}
      // Two members may have one address and no name.
      keyOf={(_, index) => String(index)}
    />
  )
}
