// One pool: its members as every node finds them, what can be done with them, its probes.
import { Fragment } from 'preact'
import { Refusal, read } from '../api/client.ts'
import { operations } from '../api/document.ts'
import { useLoad } from '../api/load.ts'
import { membersOf, poolOf, standingOf, verdictsOf, targetOf } from '../api/live.ts'
import type { Member, Pool } from '../api/live.ts'
import { can } from '../api/session.ts'
import { useEdits } from '../edit/use-edits.tsx'
import type { Edits } from '../edit/use-edits.tsx'
import { go } from '../parts/location.ts'
import { HealthHistory } from '../health/health-history.tsx'
import { Holder } from './member-change-link.tsx'
import { MemberActions } from './member-actions.tsx'
import { NotKnown, isKnown } from '../parts/not-known.tsx'
import { Badge, Card, Empty, Fault, LoadState, Page, StandingBadge, Time } from '../parts/page.tsx'
import { labelOf, textOf } from '../parts/formats.ts'

const item = '/api/v1/pools/{id}'
const checkItem = '/api/v1/pools/{id}/healthcheck'

export function PoolPage({ id }: { id: string }) {
  const loaded = useLoad(`pool ${id}`, () => read(item, { id }))
  const pool = poolOf(id) ?? loaded.value
  const edits = useEdits()
  if (pool === undefined) {
    return (
      <Page title="Pool" back={{ href: '#/pools', name: 'Pools' }}>
        <LoadState {...loaded} />
      </Page>
    )
  }
  return (
    <Page
      title={pool.name}
      lead={
        pool.minHealthy > 0 ? `Answers with ${pool.minHealthy} healthy members or more` : 'Pool'
      }
      back={{ href: '#/pools', name: 'Pools' }}
      actions={<PoolActions {...{ pool, edits }} />}
    >
      <Fault fault={poolOf(id) === undefined ? loaded.fault : ''} />
      <Members {...{ pool, edits }} />
      <HealthHistory pool={pool.id} />
      <HealthCheck {...{ pool, edits }} />
      {edits.dialogs}
    </Page>
  )
}

function PoolActions({ pool, edits }: { pool: Pool; edits: Edits }) {
  const ids = { id: pool.id }
  const change = (): void =>
    edits.edit({ title: `Edit ${pool.name}`, operation: `PATCH ${item}`, ids, from: item })
  const remove = (): void =>
    edits.confirm({
      ...{ title: `Delete ${pool.name}?`, word: 'Delete', operation: `DELETE ${item}` },
      ...{ ids, from: item, onDone: () => go('/pools') },
    })
  return (
    <>
      {can('pool:write') && (
        <button type="button" onClick={change}>
          Edit
        </button>
      )}
      {can('pool:delete') && (
        <button type="button" onClick={remove}>
          Delete
        </button>
      )}
    </>
  )
}

function Members({ pool, edits }: { pool: Pool; edits: Edits }) {
  const members = membersOf(pool.id)
  const add = (): void =>
    edits.edit({
      ...{ title: `New member of ${pool.name}`, operation: `POST ${item}/members` },
      ids: { id: pool.id },
    })
  return (
    <Card
      title="Members"
      aside={
        can('member:write') && (
          <button type="button" class="small" onClick={add}>
            New member
          </button>
        )
      }
    >
      {!isKnown() ? (
        <NotKnown />
      ) : members.length === 0 ? (
        <Empty title="No members yet">Add the first address that this pool answers with.</Empty>
      ) : (
        <div class="table-box" tabIndex={0} role="group" aria-label="Members">
          <table class="members">
            <thead>
              <tr>
                <th scope="col">Address</th>
                <th scope="col">Health</th>
                <th scope="col" class="number">
                  RTT
                </th>
                <th scope="col" class="number">
                  Weight
                </th>
                <th scope="col" class="number extra">
                  Priority
                </th>
                <th scope="col" class="extra">
                  Region
                </th>
                <th scope="col">
                  <span class="visually-hidden">What can be done</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {members.map((member) => (
                <MemberRow key={member.id} {...{ member, edits }} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  )
}

function MemberRow({ member, edits }: { member: Member; edits: Edits }) {
  const { port, name } = member
  const rtts = [...verdictsOf(member.id).values()].map(({ rttMs }) => rttMs).filter((ms) => ms > 0)
  const target = targetOf(member)
  return (
    <tr>
      <td>
        <a class="mono" href={`#/members/${encodeURIComponent(member.id)}`}>
          {target.includes(':') ? `[${target}]` : target}:{port}
        </a>
        {name !== '' && <div class="hint">{name}</div>}
      </td>
      <td>
        <StandingBadge standing={standingOf(member)} />
        <Found member={member} />
        {member.heldBy !== null && (
          <div class="hint">
            held by <Holder heldBy={member.heldBy} />
          </div>
        )}
      </td>
      <td class="number">{rtts.length === 0 ? '–' : `${Math.min(...rtts).toFixed(1)} ms`}</td>
      <td class="number">
        {member.weight}
        {member.weight !== member.declaredWeight && (
          <div class="hint">of {member.declaredWeight}</div>
        )}
      </td>
      <td class="number extra">{member.priority}</td>
      <td class="extra">{member.region}</td>
      <td class="acts">
        <MemberActions {...{ member, edits }} isSmall />
      </td>
    </tr>
  )
}

/** Since when, and why, in the words of the probe. */
function Found({ member }: { member: Member }) {
  const found = [...verdictsOf(member.id)]
  const bad = found.filter(([, { healthy }]) => !healthy)
  if (bad.length === 0) {
    const since = Math.max(0, ...found.map(([, verdict]) => verdict.since))
    return since === 0 ? null : (
      <div class="hint">
        <Time ms={since} />
      </div>
    )
  }
  return (
    <>
      {bad.map(([node, { reason, since }]) => (
        <div class="hint" key={node}>
          {found.length > 1 && `${node}: `}
          {reason === '' ? 'not healthy' : reason}
          {since > 0 && (
            <>
              , <Time ms={since} />
            </>
          )}
        </div>
      ))}
    </>
  )
}

function HealthCheck({ pool, edits }: { pool: Pool; edits: Edits }) {
  const id = pool.id
  const { value, fault, reload } = useLoad(`check ${id}`, async () => {
    try {
      return await read(checkItem, { id })
    } catch (error) {
      if (error instanceof Refusal && error.status === 404) return null
      throw error
    }
  })
  const change = (): void =>
    edits.edit({
      ...{ title: `Health check of ${pool.name}`, operation: `PUT ${checkItem}`, ids: { id } },
      ...(value === null ? {} : { from: checkItem }),
      onDone: reload,
    })
  const remove = (): void =>
    edits.confirm({
      ...{ title: 'Remove the health check?', word: 'Remove', operation: `DELETE ${checkItem}` },
      ...{ ids: { id }, from: checkItem, onDone: reload },
    })
  const facts = Object.entries((value ?? {}) as Record<string, unknown>).filter(
    ([name, one]) => isSaid(one) && isOfType(name, value?.type ?? ''),
  )
  return (
    <Card
      title="Health check"
      aside={
        <div class="row">
          {can('hc:write') && value !== undefined && (
            <button type="button" class="small" onClick={change}>
              {value === null ? 'Add' : 'Edit'}
            </button>
          )}
          {can('hc:delete') && value && (
            <button type="button" class="small" onClick={remove}>
              Remove
            </button>
          )}
        </div>
      }
    >
      <LoadState {...{ value, fault, reload }} />
      {value === null && (
        <Empty title="Nobody probes these members">
          Without a health check every enabled member counts as healthy.
        </Empty>
      )}
      {value && (
        <dl class="facts">
          {facts.map(([name, one]) => (
            <Fragment key={name}>
              <dt>{labelOf(name)}</dt>
              <dd>{name === 'type' ? <Badge tone="info">{textOf(one)}</Badge> : textOf(one)}</dd>
            </Fragment>
          ))}
        </dl>
      )}
    </Card>
  )
}

const everyType = new Set(['type', 'port', 'intervalMs', 'timeoutMs', 'riseCount', 'fallCount'])

/** A check has the fields of every type; those of others say nothing. */
function isOfType(field: string, type: string): boolean {
  const { body } = operations.value?.get(`PUT ${checkItem}`) ?? {}
  const types = body?.properties?.['type']?.enum as readonly string[] | undefined
  // Until the document of the API is here: what every type has.
  if (types === undefined) return everyType.has(field)
  return types.every((one) => one === '' || one === type || !field.startsWith(one))
}

const isSaid = (value: unknown): boolean =>
  value !== '' && value !== null && value !== false && JSON.stringify(value).length > 2
