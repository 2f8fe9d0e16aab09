// /api/v1/records: the static records of a zone, one resource for each name and type.
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { sees } from '#access/caller.ts'
import { partsIn } from '#config/entry.ts'
import { rrsetOf } from '#compiler/values/record-sets.ts'
import { findPart, targetOf } from '#api/config/reads.ts'
import { remove, tagged, write } from '#api/config/writes.ts'
import type { Written } from '#api/config/writes.ts'
import { preconditionOf } from '#api/route/if-match.ts'
import { NamedPaging, dnsNameOf, pageByName, withDnsName } from '#http/paging.ts'
import { unverifiedRefusal } from '#api/domains/record-rights.ts'
import { created, missing, success } from '#http/reply.ts'
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
import { routesOf } from '#api/route/route.ts'
import type { RouteContext } from '#api/route/route.ts'

const route = routesOf({ tag: 'Records' })

const Query = Type.Object(
  {
    ...NamedPaging.properties,
    zone: Type.Optional(Type.String({ maxLength: 1_100, description: 'Of this zone alone.' })),
    type: Type.Optional(Type.String({ maxLength: 16, description: 'Of this type alone.' })),
  },
  { additionalProperties: false },
)

const create = route('POST /api/v1/records', {
  needs: 'record:write',
  summary: 'Create the records of one name and type, in a file of their own',
  details:
    'Names without a final dot are relative to the zone, as in zone files, and the text of a TXT ' +
    'record has quotes of its own. The zone must be given to the tenant (`zones[].tenants`), or ' +
    'the name be in its delegated domain, where the zone permits that (`zones[].delegated`): ' +
    '409 until the last check of that domain has found it verified.',
  body: NewRecord,
  responses: { 201: { description: 'The record set', schema: Record, isTagged: true } },
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

/** People may have moved what was in a file of this name, and kept the file. */
function freeName({ caller, ports }: RouteContext<'config'>, name: string): string {
  const isTaken = (text: string): boolean =>
    ports.config.snapshot().find('Records', caller.tenant, text) !== undefined
  for (let free = name, n = 2; ; free = `${name} ${n++}`) if (!isTaken(free)) return free
}

const list = route('GET /api/v1/records', {
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

const get = route('GET /api/v1/records/{id}', {
  needs: 'record:read',
  summary: 'One record set',
  responses: { 200: { description: 'The record set', schema: Record, isTagged: true } },
  ports: ['config'],
  handle: (context) => {
    const found = findPart(context, 'RecordSet', context.params.id)
    if (found === undefined) return missing('record')
    return success(showRecord(found), { etag: tagged(found.part) })
  },
})

const replace = route('PUT /api/v1/records/{id}', {
  needs: 'record:write',
  summary: 'Replace the values and the TTL of a record set; name and type stay',
  body: RecordBody,
  responses: { 200: { description: 'The record set', schema: Record, isTagged: true } },
  ifMatch: 'the record set',
  ports: ['config', 'configWriter', 'domains', 'log'],
  handle: (context) =>
    change(context, context.params.id, { ...context.body, ttl: context.body.ttl ?? null }),
})

const patch = route('PATCH /api/v1/records/{id}', {
  needs: 'record:write',
  summary: 'Change the named fields of a record set; null takes its TTL back to that of the file',
  body: RecordPatch,
  responses: { 200: { description: 'The record set', schema: Record, isTagged: true } },
  ifMatch: 'the record set',
  ports: ['config', 'configWriter', 'domains', 'log'],
  handle: (context) => change(context, context.params.id, context.body),
})

async function change(
  context: RouteContext<'config' | 'configWriter' | 'domains' | 'log'>,
  id: string,
  fields: RecordPatch,
): Promise<Reply> {
  const found = findPart(context, 'RecordSet', id)
  if (found === undefined) return missing('record')
  const { tenant } = found.owner
  const refusal =
    changedIdentity(found, fields) ??
    (await unverifiedRefusal(context, tenant, [showRecord(found).name]))
  if (refusal !== undefined) return refusal
  const condition = preconditionOf(context, found.part)
  if (!condition.ok) return condition.error
  const { ttl, values } = fields
  const done = await write(context, {
    verb: 'update',
    kind: 'RecordSet',
    target: targetOf(context.caller, found.part.uid),
    patch: { ...(ttl === undefined ? {} : { ttl }), ...(values === undefined ? {} : { values }) },
    ...condition.value,
  })
  return done.ok ? success(shown(done.value), done.value.headers) : done.error
}

function shown({ entry, partId }: Written) {
  const part = partsIn('RecordSet', entry).find(({ uid }) => uid === partId)
  if (part === undefined) throw new Error(`the record set ${partId} was written and is not there`)
  return showRecord({ owner: entry, part, position: 0 })
}

const removeRecord = route('DELETE /api/v1/records/{id}', {
  needs: 'record:write',
  summary: 'Delete a record set; a file goes with its last one',
  responses: { 204: { description: 'It is gone', schema: null } },
  ifMatch: 'the record set',
  ports: ['config', 'configWriter', 'log'],
  handle: async (context) => {
    const found = findPart(context, 'RecordSet', context.params.id)
    if (found === undefined) return missing('record')
    const condition = preconditionOf(context, found.part)
    if (!condition.ok) return condition.error
    const target = targetOf(context.caller, found.part.uid)
    return remove(context, { verb: 'delete', kind: 'RecordSet', target, ...condition.value })
  },
})

export const recordRoutes = Object.freeze([create, list, get, replace, patch, removeRecord])
