// /api/v1/records: the static records of a zone, one resource for each name and type.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { closed } from '#http/shapes.ts'
import { sees } from '#access/caller.ts'
import { partsIn } from '#config/entry.ts'
import { rrsetOf } from '#compiler/values/record-sets.ts'
import { objectRoutes } from '#api/config/object-routes.ts'
import type { On } from '#api/config/object-routes.ts'
import { tagged, write } from '#api/config/writes.ts'
import type { ConfigPart } from '#config/entry.ts'
import type { Operation } from '#config/operation.ts'
import { NamedPaging, dnsNameOf, pageByName, withDnsName } from '#http/paging.ts'
import { unverifiedRefusal } from '#api/domains/record-rights.ts'
import { created } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import {
  NewRecord,
  Record,
  RecordBody,
  RecordPatch,
  changedIdentity,
  doubledName,
  fullNameOfNew,
  nameOfNewRecord,
  recordRows,
  showRecord,
  specOfNewRecord,
} from '../resources/record.ts'
import type { RecordRow } from '../resources/record.ts'
import type { RouteContext } from '#api/route/route.ts'

const records = objectRoutes({
  kind: 'RecordSet',
  path: '/api/v1/records',
  tag: 'Records',
  noun: 'record set',
  absent: 'record',
  reads: 'record:read',
  writes: 'record:write',
  schema: Record,
  show: (_, found) => showRecord(found),
})

const Query = closed({
  ...NamedPaging.properties,
  zone: Type.Optional(Type.String({ maxLength: 1_100, description: 'Of this zone alone.' })),
  type: Type.Optional(Type.String({ maxLength: 16, description: 'Of this type alone.' })),
})

const create = records.route('POST /api/v1/records', {
  needs: 'record:write',
  summary: 'Create the records of one name and type, in a file of their own',
  details:
    'Names without a final dot are relative to the zone, as in zone files, and the text of a TXT ' +
    'record has quotes of its own. The zone must be given to the tenant (`zones[].tenants`), or ' +
    'the name be in its delegated domain, where the zone permits that (`zones[].delegated`): ' +
    '409 until the last check of that domain has found it verified.',
  body: NewRecord,
  responses: { 201: records.one },
  ports: ['config', 'configWriter', 'domains', 'log'],
  handle: async (context) => {
    const { caller, body } = context
    const refusal =
      doubledName(body) ?? (await unverifiedRefusal(context, caller.tenant, fullNameOfNew(body)))
    if (refusal !== undefined) return refusal
    const done = await write(context, {
      verb: 'create',
      kind: 'Records',
      tenant: caller.tenant,
      name: freeName(context, nameOfNewRecord(body)),
      spec: specOfNewRecord(body),
    })
    if (!done.ok) return done.error
    const [part] = partsIn('RecordSet', done.value.entry)
    if (part === undefined) throw new Error('a file that was just made has its record set')
    const headers = { ...done.value.headers, etag: tagged(part) }
    return created(showRecord({ owner: done.value.entry, part, position: 0 }), headers)
  },
})

/** A file of this name may hold other records, since people may have moved them. */
function freeName({ caller, ports }: RouteContext<'config'>, name: string): string {
  const isTaken = (text: string): boolean =>
    ports.config.snapshot().find('Records', caller.tenant, text) !== undefined
  for (let free = name, n = 2; ; free = `${name} ${n++}`) if (!isTaken(free)) return free
}

const list = records.route('GET /api/v1/records', {
  needs: 'record:read',
  summary: 'All record sets, or those of one zone, name or type, by name',
  query: Query,
  responses: { 200: { description: 'Record sets', schema: Type.Array(Record) } },
  ports: ['config'],
  handle: (context) => {
    const { caller, ports, query } = context
    const isWanted = filterOf(query)
    const rows = recordRows(ports.config.snapshot().list('Records'))
    const own = rows.filter((row) => sees(caller, row.owner.tenant) && isWanted(row))
    return pageByName(own, withDnsName(query), showRecord)
  },
})

function filterOf({ zone, type }: Static<typeof Query>) {
  const code = type === undefined ? undefined : rrsetOf('.', '@', type).code
  return (row: RecordRow): boolean =>
    (zone === undefined || row.zone === dnsNameOf(zone)) &&
    (type === undefined || row.code === code)
}

const replace = records.change('PUT', {
  summary: 'Replace the values and the TTL of a record set; name and type stay',
  body: RecordBody,
  ports: ['domains'],
  operations: (context, found, on) => {
    const { body } = context
    return changesOf(context, found, on, { ...body, ttl: body.ttl ?? null })
  },
})

const patch = records.change('PATCH', {
  summary: 'Change the named fields of a record set; null takes its TTL back to that of the file',
  body: RecordPatch,
  ports: ['domains'],
  operations: (context, found, on) => changesOf(context, found, on, context.body),
})

async function changesOf(
  context: RouteContext<'config' | 'domains'>,
  found: ConfigPart<'RecordSet'>,
  on: On<'RecordSet'>,
  fields: RecordPatch,
): Promise<readonly Operation[] | Reply> {
  const { tenant } = found.owner
  const refusal =
    changedIdentity(found, fields) ??
    (await unverifiedRefusal(context, tenant, [showRecord(found).name]))
  if (refusal !== undefined) return refusal
  const { ttl, values } = fields
  const patch = {
    ...(ttl === undefined ? {} : { ttl }),
    ...(values === undefined ? {} : { values }),
  }
  return [{ verb: 'update', ...on, patch }]
}

const removeRecord = records.remove({
  summary: 'Delete a record set; a file goes with its last one',
})

export const recordRoutes = Object.freeze([
  create,
  list,
  records.get(),
  replace,
  patch,
  removeRecord,
])
