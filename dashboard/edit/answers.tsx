// Shows the plan of a change: how answers would differ, name by name.
import { useState } from 'preact/hooks'
import type { paths } from 'openapi-of-gslbd'
import { useAct } from '../api/act.ts'
import { send } from '../api/client.ts'
import { operations } from '../api/document.ts'
import { Badge, Code, Fault, Loading } from '../parts/page.tsx'
import { countOf } from '../parts/formats.ts'
import { sideOf } from './flow-labels.ts'

type Plan = paths['/api/v1/plan']['post']['responses'][200]['content']['application/json']
type Scenario = Plan['scenarios'][number]
type Change = Scenario['changes'][number]
type Side = Change['before']

export interface PlannedRequest {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly ifMatch?: string
}

/** Started by hand: a plan takes seconds, and a tenant has one at a time. */
export function Answers({ writes, word }: { writes: readonly PlannedRequest[]; word: string }) {
  const [plan, setPlan] = useState<Plan | null>(null)
  const { isBusy, fault, act } = useAct()
  if (operations.value?.has('POST /api/v1/plan') !== true) return null
  const ask = () =>
    act(async () => {
      const body = { requests: writes, health: 'now', limit: shownMax }
      setPlan((await send('/api/v1/plan', { method: 'POST', body })).body as Plan)
    })
  return (
    <div class="stack">
      {plan === null && (
        <div>
          <button type="button" disabled={isBusy} onClick={() => void ask()}>
            {isBusy ? 'Planning …' : word}
          </button>
        </div>
      )}
      {isBusy && <Loading />}
      <Fault fault={fault} />
      {plan !== null && <PlanView plan={plan} />}
    </div>
  )
}

const shownMax = 50

function PlanView({ plan }: { plan: Plan }) {
  const { names, comparedNames, movedMax, movedMaxName } = plan.summary
  const { guardrail } = plan
  return (
    <div class="stack" role="status">
      <p>
        <strong>
          {names === 0
            ? 'No answer would be another.'
            : `${names} of ${countOf(comparedNames, 'name')} would answer differently.`}
        </strong>{' '}
        {movedMax > 0 && `Most move at ${movedMaxName}: ${shareOf(movedMax)} of its clients.`}
      </p>
      {guardrail !== null && (
        <p>
          <Badge tone="warn">guardrail</Badge> {guardrail}
        </p>
      )}
      {plan.scenarios
        .filter(({ changes }) => changes.length > 0)
        .map((scenario, i) => (
          <ScenarioTable key={i} scenario={scenario} />
        ))}
      {plan.later.map(({ subject, what }, i) => (
        <p class="soft" key={i}>
          Later: {subject} {what}
        </p>
      ))}
      {plan.files.map(({ path, text }) => (
        <details key={path}>
          <summary>
            <code>{path}</code> {text === null ? 'goes' : 'as it would be in Git'}
          </summary>
          {text !== null && <Code text={text} name={path} />}
        </details>
      ))}
    </div>
  )
}

const healths: Readonly<Record<Scenario['health'], string>> = {
  'all-up': 'While all members are up',
  given: 'Under the health of now',
}

function ScenarioTable({ scenario }: { scenario: Scenario }) {
  const { health, changes, omitted } = scenario
  return (
    <section class="stack" aria-label={healths[health]}>
      <h3>{healths[health]}</h3>
      <div class="table-box" tabIndex={0} role="group" aria-label={`Answers: ${healths[health]}`}>
        <table class="differences">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Before</th>
              <th scope="col">After</th>
              <th scope="col">Clients that move</th>
            </tr>
          </thead>
          <tbody>
            {changes.map((change) => (
              <ChangeRow key={`${change.name} ${change.type}`} change={change} />
            ))}
          </tbody>
        </table>
      </div>
      {omitted > 0 && <p class="soft">and {omitted} more</p>}
    </section>
  )
}

function ChangeRow({ change }: { change: Change }) {
  const { name, type, kind, before, after, movement } = change
  return (
    <tr>
      <th scope="row">
        {name} {type} {kind !== 'changed' && <Badge tone="info">{kind}</Badge>}
      </th>
      <td>
        <del>{answerOf(before)}</del>
      </td>
      <td>
        <ins>{answerOf(after)}</ins>
      </td>
      <td>
        {movement === null ? '–' : movedOf(movement)}
        {movement?.ipv4 && <Flows flows={movement.ipv4.flows} />}
      </td>
    </tr>
  )
}

type Flow = NonNullable<NonNullable<Change['movement']>['ipv4']>['flows'][number]

const flowsMax = 4

/** Movements of clients, the largest first. */
function Flows({ flows }: { flows: readonly Flow[] }) {
  return (
    <ul class="plain hint">
      {flows.slice(0, flowsMax).map(({ from, to, share }, i) => (
        <li key={i}>
          {shareOf(share)}: {sideOf(from)} → {sideOf(to)}
        </li>
      ))}
      {flows.length > flowsMax && <li>and {flows.length - flowsMax} more</li>}
    </ul>
  )
}

const shareOf = (share: number): string =>
  share > 0 && share < 0.001 ? '<0.1 %' : `${Math.round(share * 1_000) / 10} %`

function answerOf(side: Side): string {
  if (side === null) return 'nothing'
  const records = side.records.length > 0 ? side.records.join('\n') : side.policy || side.rcode
  return side.ttlSeconds === null ? records : `${records}\nTTL ${side.ttlSeconds} s`
}

function movedOf({ ipv4, ipv6 }: NonNullable<Change['movement']>): string {
  const parts = [ipv4 && `IPv4 ${shareOf(ipv4.moved)}`, ipv6 && `IPv6 ${shareOf(ipv6.moved)}`]
  return parts.filter((one) => typeof one === 'string').join(', ')
}
