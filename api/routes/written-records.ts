// /api/v1/dns/written-records: what DNS clients and the API have written at run time, of all types.
import { Type } from '#lib/schema/type.ts'
import { scopeOf } from '#access/grants.ts'
import { NamedPaging, withDnsName } from '#http/paging.ts'
import { routesOf } from '#api/route/route.ts'
import { storedGone, storedPage } from '#http/store-reply.ts'
import { WrittenRecord, showWrittenRecord } from '../resources/written-record.ts'

const route = routesOf({ tag: 'Dynamic DNS' })

const listRecords = route('GET /api/v1/dns/written-records', {
  needs: 'txt:read',
  withoutConfig: true,
  summary: 'Records written at run time by name, of all types, and who wrote each',
  query: NamedPaging,
  responses: { 200: { description: 'Records', schema: Type.Array(WrittenRecord) } },
  ports: ['dynamicDns', 'hiddenBy'],
  handle: async ({ caller, ports, query }) => {
    const records = await ports.dynamicDns.listRecords(scopeOf(caller))
    return storedPage(
      records,
      withDnsName(query),
      ({ id }) => id,
      (record) => showWrittenRecord(record, ports.hiddenBy(record.name, record.type)),
    )
  },
})

const deleteRecord = route('DELETE /api/v1/dns/written-records/{id}', {
  needs: 'txt:write',
  withoutConfig: true,
  summary: 'Delete a record that was written at run time',
  responses: { 204: { description: 'It is gone', schema: null } },
  ports: ['dynamicDns'],
  handle: async ({ caller, ports, params }) => {
    return storedGone(await ports.dynamicDns.deleteRecord(scopeOf(caller), params.id), 'record')
  },
})

export const writtenRecordRoutes = Object.freeze([listRecords, deleteRecord])
