// One service: its chain as steps, with the candidates that pass each at this moment.
import { useEffect, useRef } from 'preact/hooks'
import { read, send } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { membersOf, poolOf, serviceOf, standingOf } from '../api/live.ts'
import type { Service } from '../api/live.ts'
import { can } from '../api/session.ts'
import { useEdits } from '../edit/use-edits.tsx'
import { go, to } from '../parts/location.ts'
import { Card, Fault, LoadState, Page } from '../parts/page.tsx'
import type { Simulation } from './simulation.tsx'
import { SimulatedMembers, StepList } from './simulation.tsx'
import { wayOf } from './services.tsx'

const item = '/api/v1/services/{id}'

export function ServicePage({ id }: { id: string }) {
  const loaded = useLoad(`service ${id}`, () => read(item, { id }))
  const service = serviceOf(id) ?? loaded.value
  const { edit, confirm, dialogs } = useEdits()
  if (service === undefined) {
    return (
      <Page title="Service" back={{ href: '#/services', name: 'Services' }}>
        <LoadState {...loaded} />
      </Page>
    )
  }
  const change = (): void =>
    edit({ title: `Edit ${service.name}`, operation: `PATCH ${item}`, ids: { id }, from: item })
  const remove = (): void =>
    confirm({
      ...{ title: `Delete ${service.name}?`, word: 'Delete', operation: `DELETE ${item}` },
      ...{ ids: { id }, from: item, onDone: () => go('/services') },
    })
  return (
    <Page
      title={service.domain}
      lead={`Service ${service.name}`}
      back={{ href: '#/services', name: 'Services' }}
      actions={
        <>
          <a class="button" href={to('/trace', { name: service.domain })}>
            Trace an answer
          </a>
          {can('service:write') && (
            <button type="button" onClick={change}>
              Edit
            </button>
          )}
          {can('service:delete') && (
            <button type="button" onClick={remove}>
              Delete
            </button>
          )}
        </>
      }
    >
      <Fault fault={serviceOf(id) === undefined ? loaded.fault : ''} />
      <div class="grid">
        <Facts service={service} />
        <NowCard service={service} />
      </div>
      {dialogs}
    </Page>
  )
}

function Facts({ service }: { service: Service }) {
  const { poolId, ttl, answerCount, onAllDown } = service
  const pool = poolId === null ? undefined : poolOf(poolId)
  return (
    <Card title="As it is declared">
      <dl class="facts">
        <dt>Pool</dt>
        <dd>
          {pool === undefined || poolId === null ? (
            'none: the name exists and has no records'
          ) : (
            <a href={to(`/pools/${encodeURIComponent(poolId)}`)}>{pool.name}</a>
          )}
        </dd>
        <dt>Chosen by</dt>
        <dd>{wayOf(service)}</dd>
        <dt>Addresses in an answer</dt>
        <dd>at most {answerCount}</dd>
        <dt>When all are down</dt>
        <dd>
          {onAllDownLabels[onAllDown] ?? `the members of ${onAllDown.replace(/^pool:/, 'pool ')}`}
        </dd>
        <dt>TTL</dt>
        <dd>{ttl} s</dd>
      </dl>
    </Card>
  )
}

const onAllDownLabels: Readonly<Record<string, string>> = {
  empty: 'no records',
  all: 'every enabled member, whatever its health',
}

const everyMs = 10_000
const settleMs = 500

/** Asked of the answer path itself, so that it is what a client would get. */
function NowCard({ service: { domain, poolId } }: { service: Service }) {
  const ask = async (): Promise<Simulation> => {
    const body = { name: domain, type: 'A' }
    return (await send('/api/v1/simulate', { method: 'POST', body })).body as Simulation
  }
  const { value, fault, reload } = useLoad(`now ${domain}`, ask, everyMs)
  const health = poolId === null ? '' : membersOf(poolId).map(standingOf).join()
  const isFirst = useRef(true)
  useEffect(() => {
    if (isFirst.current) {
      isFirst.current = false
      return
    }
    // Members that come and go all the time do not have the node asked all the time.
    const timer = setTimeout(reload, settleMs)
    return () => clearTimeout(timer)
  }, [health])
  return (
    <Card title="How it answers now">
      <LoadState {...{ value, fault, reload }} />
      {value?.service && (
        <div class="stack">
          <StepList service={value.service} />
          <SimulatedMembers service={value.service} />
        </div>
      )}
      {value !== undefined && value.service === null && (
        <p class="soft">{value.rule === null ? value.rcode : 'A response rule goes before it.'}</p>
      )}
    </Card>
  )
}
