// The way to an answer, drawn: each step with who passed it, and the members with their standing.
import type { paths } from 'openapi-of-gslbd'
import { Badge } from '../parts/page.tsx'
import type { Tone } from '../parts/page.tsx'

export type Simulation =
  paths['/api/v1/simulate']['post']['responses'][200]['content']['application/json']
export type Routed = NonNullable<Simulation['service']>
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

export function SimulatedMembers({ service }: { service: Routed }) {
  return (
    <div class="table-box" tabIndex={0} role="group" aria-label="Members of the pool">
      <table>
        <thead>
          <tr>
            <th scope="col">Member</th>
            <th scope="col">Standing</th>
            <th scope="col" class="number">
              Weight
            </th>
            <th scope="col" class="number extra">
              Priority
            </th>
            <th scope="col" class="number">
              RTT
            </th>
          </tr>
        </thead>
        <tbody>
          {service.members.map((member, i) => (
            <tr key={i}>
              <td>
                <span class="mono">{member.ipAddress}</span>
                {member.name !== '' && <span class="soft"> {member.name}</span>}
              </td>
              <td>
                <Badge tone={tones[member.standing]}>{member.standing}</Badge>
              </td>
              <td class="number">{member.weight}</td>
              <td class="number extra">{member.priority}</td>
              <td class="number">{member.rttMs === 0 ? '–' : `${member.rttMs.toFixed(1)} ms`}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
