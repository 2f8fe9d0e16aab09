// Applies the changes of an external-dns request in one commit, or none of them.
import type { Caller } from '#access/caller.ts'
import { isInDomains } from '#config/record-rights.ts'
import type { Operation } from '#config/operation.ts'
import { unownedNamesRefusal, unverifiedRefusal } from '#api/domains/record-rights.ts'
import { writeAll } from '#api/config/writes.ts'
import type { NameOfFile } from '#api/config/writes.ts'
import type { Ports } from '#ports/ports.ts'
import { later, noContent } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import type { RequestFacts } from '#http/request-facts.ts'
import { subjectHeader } from '#http/write-headers.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { wantedBy } from './changes.ts'
import type { WantedByKey } from './changes.ts'
import { ownerOf } from './endpoint.ts'
import type { WireChanges } from './endpoint.ts'
import { heldBy } from './held.ts'
import type { Held } from './held.ts'
import { isBalanced } from './level.ts'
import { externalDnsLimits } from './limits.ts'
import { recordOperations } from './record-operations.ts'
import { serviceOperations } from './service-operations.ts'

type ApplyPorts = Ports<'config' | 'configWriter' | 'domains' | 'licence' | 'clock' | 'log'>

interface Context {
  readonly caller: Caller
  readonly requestId: string
  readonly request: RequestFacts
  readonly ports: ApplyPorts
}

/** @returns 204, also when nothing has to change; else the refusal */
export async function applyChanges(context: Context, changes: WireChanges): Promise<Reply> {
  const { ports, caller } = context
  for (let tries = 0; ; tries++) {
    const snapshot = ports.config.snapshot()
    const held = heldBy(snapshot, caller.tenant)
    const planned = planOf(context, held, changes)
    if (!planned.ok) return planned.error
    const { wanted, operations } = planned.value
    if (operations.length === 0) return noContent()
    const refusal = await rightsRefusal(context, held, wanted)
    if (refusal !== undefined) return refusal
    const done = await writeAll(
      withSubject(context, wanted),
      operations,
      { hasMany: true },
      nameIn(wanted),
    )
    if (done.ok) return noContent(done.value.headers)
    // Objects on which the changes were computed have changed meanwhile.
    const isRaced = ports.config.snapshot() !== snapshot && raced.has(done.error.status)
    if (!isRaced) return done.error
    if (tries >= externalDnsLimits.triesMax) {
      return later(503, 'others change the same names all the time; try again', 1)
    }
  }
}

/** Names the endpoints that a file is written for: files are called by their names. */
function nameIn(wanted: WantedByKey): NameOfFile {
  return (file) => {
    const [, base = ''] = /([^/]+)\.yaml$/.exec(file) ?? []
    const all = [...wanted.values()].map(({ endpoint }) => endpoint)
    const own = all.filter(({ name }) => name.slice(0, -1) === base)
    const kinds = own.map(({ type, set }) => `${type}${set === '' ? '' : ` of the set "${set}"`}`)
    if (kinds.length === 0) return ''
    const shown = kinds.slice(0, kindsShownMax).join(', ')
    return `${base} (${shown}${kinds.length > kindsShownMax ? ', …' : ''})`
  }
}

const kindsShownMax = 5

const raced: ReadonlySet<number> = new Set([404, 409, 412])

interface Planned {
  readonly wanted: WantedByKey
  readonly operations: readonly Operation[]
}

function planOf(
  { ports, caller: { tenant } }: Context,
  held: Held,
  changes: WireChanges,
): Result<Planned, Reply> {
  const wanted = wantedBy(changes, held, tenant)
  if (!wanted.ok) return wanted
  const target = {
    ...{ snapshot: ports.config.snapshot(), tenant, held },
    ...{ licence: ports.licence, nowMs: ports.clock.nowMs() },
  }
  const records = recordOperations(target, wanted.value)
  if (!records.ok) return records
  const services = serviceOperations(target, wanted.value)
  if (!services.ok) return err(services.error)
  return ok({ wanted: wanted.value, operations: [...records.value, ...services.value] })
}

/** As for each request of the API: a domain has to be verified. Removing needs no such right. */
async function rightsRefusal(
  { caller, ports }: Context,
  held: Held,
  wanted: WantedByKey,
): Promise<Reply | undefined> {
  const coming = [...wanted.values()]
    .filter(({ isThere, endpoint }) => isThere && isInDomains(held.domains, endpoint.name))
    .map(({ endpoint }) => endpoint)
  const records = coming.filter((one) => !isBalanced(one)).map(({ name }) => name)
  const refusal = await unverifiedRefusal({ caller, ports }, caller.tenant, [...new Set(records)])
  if (refusal !== undefined) return refusal
  const services = coming.filter((one) => isBalanced(one) && !held.services.has(one.name))
  return await unownedNamesRefusal({ caller, ports }, [
    ...new Set(services.map(({ name }) => name)),
  ])
}

const subjectLengthMax = 120

/** The subject of the commit says whose change it is. */
function withSubject(
  context: Context,
  wanted: WantedByKey,
): Context & { readonly isDryRun: false } {
  const all = [...wanted.values()].filter(({ endpoint }) => !endpoint.isOwnership)
  const owners = all.map(({ endpoint }) => ownerOf(endpoint)).filter((one) => one !== '')
  const names = [...new Set(all.map(({ endpoint }) => endpoint.name.slice(0, -1)))]
  const [first = 'ownership records', ...others] = names
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  const who = owners[0] === undefined ? 'external-dns' : `external-dns ${owners[0].slice(0, 40)}`
  const text = `${who}: ${first}`.slice(0, subjectLengthMax - more.length) + more
  const header = (name: string): string | undefined =>
    name === subjectHeader ? Buffer.from(text, 'utf8').toString('latin1') : undefined
  return { ...context, isDryRun: false, request: { ...context.request, header } }
}
