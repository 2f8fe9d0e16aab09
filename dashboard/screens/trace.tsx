// Shows why a client gets an answer, by name, client, time, and members assumed to be down.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useAct } from '../api/act.ts'
import { send } from '../api/client.ts'
import { operations } from '../api/document.ts'
import { allServices } from '../api/live.ts'
import { curlOf } from '../edit/editor.tsx'
import { place } from '../parts/location.ts'
import { Badge, Card, Code, Copy, Empty, Fault, Page } from '../parts/page.tsx'
import { ClientPlace } from '../map/client-place.tsx'
import { SimulatedMembers, StepList } from './simulation.tsx'
import { CommitFields } from './trace-commits.tsx'
import type { Question, Simulation } from './simulation.tsx'

const types = ['A', 'AAAA', 'CNAME', 'MX', 'NS', 'SOA', 'SRV', 'TXT', 'HTTPS', 'CAA'] as const

type Health = Readonly<Record<string, boolean>>

/** An answer, and what was asked. */
interface Kept {
  readonly found: Simulation
  readonly words: string
}

function questionText(
  { name, type, client, subnet, at, commit }: Question,
  health: Health,
): string {
  const down = Object.keys(health).map((key) => key.split('/').at(-1))
  return [
    `${name} ${type}`,
    ...(client === '' ? [] : [`from ${client}`]),
    ...(subnet === '' ? [] : [`for ${subnet}`]),
    ...(at === '' ? [] : [`at ${at.replace('T', ' ')}`]),
    ...(commit === '' ? [] : [`as of ${commit.slice(0, 10)}`]),
    ...(down.length === 0 ? [] : [`without ${down.join(', ')}`]),
  ].join(' ')
}

function NothingAsked() {
  return (
    <Empty title="Ask about a name">
      You see the answer, and each step that led to it: who was a candidate, who was dropped, and
      why.
    </Empty>
  )
}

export function Trace() {
  const [question, setQuestion] = useState<Question>({
    ...{ name: place.value.query.get('name') ?? '', type: 'A', client: '', subnet: '', at: '' },
    commit: place.value.query.get('commit') ?? '',
  })
  const [beside, setBeside] = useState(place.value.query.get('beside') ?? '')
  const [health, setHealth] = useState<Health>({})
  const [now, setNow] = useState<Kept | null>(null)
  const [kept, setKept] = useState<Kept | null>(null)
  const { fault, act } = useAct()
  const body = bodyOf(question, health)
  const mayPick = operations.value?.has('GET /api/v1/simulate/clients/{country}') === true
  const ask = async (assumed: Health): Promise<void> => {
    const isAnswered = await act(async () => {
      if (beside !== '') setKept(await answerTo({ ...question, commit: beside }, assumed))
      setNow(await answerTo(question, assumed))
    })
    if (!isAnswered) setNow(null)
  }
  const assume = (assumed: Health): void => {
    setHealth(assumed)
    void ask(assumed)
  }
  return (
    <Page
      title="Trace"
      lead="The answer path itself is asked, with this node's health. Nothing changes."
    >
      <Card title="The question">
        <form
          onSubmit={(event) => {
            event.preventDefault()
            void ask(health)
          }}
        >
          <div class="stack">
            <QuestionFields {...{ question, setQuestion }} />
            <CommitFields {...{ question, setQuestion, beside, setBeside }} />
            {mayPick && (
              <ClientPlace choose={(subnet) => setQuestion((one) => ({ ...one, subnet }))} />
            )}
          </div>
          <div class="dialog-foot">
            <Copy text={curlOf('POST', '/api/v1/simulate', body, '')}>Copy as curl</Copy>
            <button type="submit" class="primary">
              Trace
            </button>
          </div>
        </form>
      </Card>
      <Fault fault={fault} />
      {now === null && fault === '' && <NothingAsked />}
      {now !== null && (
        <Found {...{ found: now.found, health, assume }}>
          {kept !== now && <KeepButton keep={() => setKept(now)} />}
        </Found>
      )}
      {kept !== null && now !== null && kept !== now && (
        <Comparison {...{ kept, now }} drop={() => setKept(null)} />
      )}
    </Page>
  )
}

async function answerTo(question: Question, health: Health): Promise<Kept> {
  const request = { method: 'POST', body: bodyOf(question, health) }
  const { body } = await send('/api/v1/simulate', request)
  return { found: body as Simulation, words: questionText(question, health) }
}

function bodyOf(question: Question, health: Health): Record<string, unknown> {
  const said = Object.entries(question).filter(([, value]) => value !== '')
  const fields: Record<string, unknown> = Object.fromEntries(said)
  if (question.at !== '') fields['at'] = new Date(question.at).toISOString()
  return Object.keys(health).length === 0 ? fields : { ...fields, health }
}

interface FieldsProps {
  readonly question: Question
  readonly setQuestion: (question: Question) => void
}

function QuestionFields({ question, setQuestion }: FieldsProps) {
  const field = (key: keyof Question, label: string, hint: string, type = 'text') => (
    <div class="field">
      <label for={`trace-${key}`}>{label}</label>
      <input
        {...{ id: `trace-${key}`, type: type as 'text', autocomplete: 'off', spellcheck: false }}
        required={key === 'name'}
        {...(key === 'name' ? { list: 'trace-names' } : {})}
        placeholder={hint}
        value={question[key]}
        onInput={(event) => setQuestion({ ...question, [key]: event.currentTarget.value })}
      />
    </div>
  )
  return (
    <div class="grid">
      {field('name', 'Name', 'www.example.com')}
      <datalist id="trace-names">
        {allServices()
          .slice(0, 500)
          .map(({ id, domain }) => (
            <option key={id} value={domain} />
          ))}
      </datalist>
      <div class="field">
        <label for="trace-type">Type</label>
        <select
          id="trace-type"
          value={question.type}
          onChange={(event) => setQuestion({ ...question, type: event.currentTarget.value })}
        >
          {types.map((type) => (
            <option key={type}>{type}</option>
          ))}
        </select>
      </div>
      {field('client', 'Who asks: resolver or client', '192.0.2.1')}
      {field('subnet', 'Client subnet (ECS)', '198.51.100.0/24')}
      {field('at', 'When; empty: now', '', 'datetime-local')}
    </div>
  )
}

const notOurs = 'No zone of ours has this name.'

interface WhatIfProps {
  readonly found: Simulation
  readonly health: Health
  readonly assume: (health: Health) => void
}

function Found({
  found,
  health,
  assume,
  children,
}: WhatIfProps & { readonly children: ComponentChildren }) {
  const { service, records, rcode, rule, overlays } = found
  return (
    <>
      <Card
        title="The answer"
        aside={<Badge tone={rcode === 'NOERROR' ? 'good' : 'warn'}>{rcode}</Badge>}
      >
        <div class="stack">
          {records.length === 0 ? (
            <p class="soft">{found.zone === null ? notOurs : 'No records.'}</p>
          ) : (
            <Code name="Records of the answer" text={records.join('\n')} />
          )}
          {rule !== null && <RuleLine rule={rule} />}
          <Circumstances found={found} />
          <div class="row">{children}</div>
        </div>
      </Card>
      {service !== null && (
        <div class="grid">
          <Card title={`Steps of ${service.name}`}>
            <StepList service={service} />
          </Card>
          <Card title="What if">
            <div class="stack">
              <WhatIf {...{ found, health, assume }} />
              <SimulatedMembers service={service} />
              {overlays.map((overlay) => (
                <p class="soft" key={`${overlay.kind} ${overlay.name}`}>
                  {overlay.kind} {overlay.name}: {overlay.effect}
                </p>
              ))}
            </div>
          </Card>
        </div>
      )}
    </>
  )
}

function KeepButton({ keep }: { keep: () => void }) {
  return (
    <button type="button" class="small" onClick={keep}>
      Keep to compare
    </button>
  )
}

interface ComparisonProps {
  readonly kept: Kept
  readonly now: Kept
  readonly drop: () => void
}

/** Two answers beside each other: of two clients, times, states of health, or commits. */
function Comparison({ kept, now, drop }: ComparisonProps) {
  const isSame = kept.found.records.join() === now.found.records.join()
  return (
    <Card
      title="Side by side"
      aside={
        <button type="button" class="small" onClick={drop}>
          Stop comparing
        </button>
      }
    >
      <p>
        <Badge tone={isSame ? 'good' : 'warn'}>
          {isSame ? 'the same answer' : 'another answer'}
        </Badge>
      </p>
      <div class="grid">
        {[kept, now].map(({ found, words }, i) => (
          <section class="stack" key={i} aria-label={i === 0 ? 'Kept' : 'Now'}>
            <h3>{i === 0 ? 'Kept' : 'Now'}</h3>
            <p class="soft">{words}</p>
            <Code
              name={i === 0 ? 'The answer that was kept' : 'The answer now'}
              text={found.records.join('\n') || found.rcode}
            />
            <Circumstances found={found} />
            {found.service && <StepList service={found.service} />}
          </section>
        ))}
      </div>
    </Card>
  )
}

function RuleLine({ rule }: { rule: NonNullable<Simulation['rule']> }) {
  const { triggerType, triggerValue, action, actionTarget } = rule
  const words = `${triggerType} ${triggerValue} → ${action} ${actionTarget}`
  return <p>A response rule goes before everything else: {words}</p>
}

function Circumstances({ found }: { found: Simulation }) {
  return (
    <p class="soft">
      At {found.at}, by node {found.node}, of commit <code>{found.commit.slice(0, 10)}</code>
      {found.match === 'wildcard' && `, by the wildcard ${found.owner}`}
      {found.scope !== null && `, good for a /${found.scope} around the client`}
    </p>
  )
}

/** Turns members off, in thought alone. */
function WhatIf({ found, health, assume }: WhatIfProps) {
  const { service } = found
  if (service === null || service.pool === null) return null
  const keyOf = (address: string): string => `${service.tenantId}/${service.pool}/${address}`
  const turn = (address: string, isDown: boolean): void => {
    const { [keyOf(address)]: _old, ...others } = health
    assume(isDown ? { ...others, [keyOf(address)]: false } : others)
  }
  return (
    <fieldset class="row">
      <legend>Taken to be down</legend>
      {service.members.map(({ ipAddress }, i) => (
        <label class="row" key={`${ipAddress} ${i}`}>
          <input
            type="checkbox"
            checked={health[keyOf(ipAddress)] === false}
            onChange={(event) => turn(ipAddress, event.currentTarget.checked)}
          />
          <span class="mono">{ipAddress}</span>
        </label>
      ))}
    </fieldset>
  )
}
