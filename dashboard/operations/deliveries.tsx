// Shows how a commit reaches the nodes wave by wave, with the actions of an operator.
import type { paths } from 'openapi-of-gslbd'
import { read } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { can } from '../api/session.ts'
import { useEdits } from '../edit/use-edits.tsx'
import type { Edits } from '../edit/use-edits.tsx'
import { Badge, Card, Empty, LoadState, Notice, Page, Time } from '../parts/page.tsx'
import type { Tone } from '../parts/page.tsx'
import { spanOf } from '../parts/formats.ts'

type Delivery =
  paths['/api/v1/deliveries']['get']['responses'][200]['content']['application/json'][number]
type Wave = Delivery['waves'][number]

const everyMs = 3_000
const phases: Readonly<Record<Delivery['phase'], Tone>> = {
  ...{ done: 'good', rolling: 'info', paused: 'warn' },
  ...{ held: 'bad', returned: 'bad', aborted: 'warn' },
}

/** What makes sense in each phase; the node has the last word. */
const actions: Readonly<Record<Delivery['phase'], readonly string[]>> = {
  done: [],
  rolling: ['pause', 'promote', 'abort'],
  paused: ['resume', 'promote', 'abort'],
  held: ['resume', 'promote', 'abort'],
  returned: [],
  aborted: [],
}

const words: Readonly<Record<string, string>> = {
  ...{ pause: 'Pause', resume: 'Go on', promote: 'Give it to all now', abort: 'Take it back' },
}

export function Deliveries() {
  const { value, fault, reload } = useLoad('deliveries', () => read('/api/v1/deliveries'), everyMs)
  const edits = useEdits()
  return (
    <Page title="Waves" lead="A new commit reaches a few nodes first, then more, then all.">
      <LoadState {...{ value, fault, reload }} />
      {value?.length === 0 && (
        <Card>
          <Empty title="Commits reach all nodes at once">
            Declare a Delivery in the repository: its waves say which nodes come first, how long to
            wait, and what stops it.
          </Empty>
        </Card>
      )}
      {value?.map((one) => (
        <DeliveryCard key={one.channel} {...{ one, edits, reload }} />
      ))}
      {edits.dialogs}
    </Page>
  )
}

interface DeliveryProps {
  readonly one: Delivery
  readonly edits: Edits
  readonly reload: () => void
}

function DeliveryCard({ one, edits, reload }: DeliveryProps) {
  const { channel, phase, good, target, waves, phaseSince, verdict, waitsFor, fault } = one
  const ask = (action: string): void =>
    edits.confirm({
      ...{ title: `${words[action]}?`, word: words[action] ?? action, ids: { channel } },
      ...{ operation: `POST /api/v1/deliveries/{channel}/${action}`, onDone: reload },
    })
  return (
    <Card title={`Channel ${channel}`} aside={<Badge tone={phases[phase]}>{phase}</Badge>}>
      <div class="stack">
        {fault !== '' && <Notice tone="bad">{fault}</Notice>}
        <p>
          {target === null ? 'All nodes are given ' : 'On its way: '}
          <code>{(target ?? good).commit.slice(0, 10)}</code>
          {target !== null && (
            <>
              {' '}
              after <code>{good.commit.slice(0, 10)}</code>
            </>
          )}
          . This phase began <Time ms={phaseSince > 1e11 ? phaseSince : phaseSince * 1_000} />.
        </p>
        {waitsFor !== '' && <p class="soft">Waits for {waitsFor}.</p>}
        {verdict !== null && (
          <Notice tone="warn">
            Wave {verdict.wave}, {verdict.gate}: {verdict.value}, the limit is {verdict.limit}.
          </Notice>
        )}
        <ol class="plain steps">
          {waves.map((wave, i) => (
            <WaveStep key={i} wave={wave} />
          ))}
        </ol>
        {can('delivery:write') && actions[phase].length > 0 && (
          <div class="row">
            {actions[phase].map((action) => (
              <button key={action} type="button" onClick={() => ask(action)}>
                {words[action]}
              </button>
            ))}
          </div>
        )}
      </div>
    </Card>
  )
}

function WaveStep({ wave }: { wave: Wave }) {
  const { nodes, percent, holdSeconds, hasBegun, adopted, waiting, refused, silent } = wave
  const all = adopted + waiting + refused + silent
  const part = (count: number) => ({ width: `${all === 0 ? 0 : (100 * count) / all}%` })
  return (
    <li class="step">
      <h3>
        {nodes ?? `${percent} % of the nodes`} {!hasBegun && <Badge tone="plain">not yet</Badge>}
      </h3>
      <div class="bar" aria-hidden="true">
        <span class="up" style={part(adopted)} />
        <span class="split" style={part(silent)} />
        <span class="down" style={part(refused)} />
      </div>
      <p class="hint">
        {hasBegun ? `${adopted} of ${all} have it` : 'comes after the one before'}
        {refused > 0 && `, ${refused} refuse it`}
        {silent > 0 && `, ${silent} are silent`}
        {holdSeconds > 0 && `; then ${spanOf(holdSeconds)} of watching`}
      </p>
    </li>
  )
}
