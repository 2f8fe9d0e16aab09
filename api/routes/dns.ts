// /api/v1/dns: TSIG keys, and the TXT records that clients with such keys may write as well.
import { randomBytes } from 'node:crypto'
import { Type } from '#lib/schema/type.ts'
import { checkHostName, checkHostPattern } from '#compiler/values/names.ts'
import type { CheckedName } from '#compiler/values/names.ts'
import { nameSource, refusalText, textRefusal, zoneOf } from '#config/name-holder.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { seal } from '#lib/secret-box.ts'
import { uuidV7 } from '#lib/uuid.ts'
import { defaultTenant } from '#schemas/objects/tenant.ts'
import { tsigAlgorithmNames, writtenTypes } from '#state/ports/dynamic-dns.ts'
import type { HiddenBy, StoredRecord } from '#state/ports/dynamic-dns.ts'
import { actorOf } from '#access/caller.ts'
import { withoutSecretKey } from '#access/auth/secret-key.ts'
import { scopeOf } from '#access/grants.ts'
import { unownedRefusal } from '#api/domains/record-rights.ts'
import { NamedPaging, dnsNameOf, withDnsName } from '#http/paging.ts'
import { created, invalid, missing, refused } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import { routesOf } from '#api/route/route.ts'
import type { RouteContext } from '#api/route/route.ts'
import { sentenceList } from '#http/sentence-list.ts'
import { storeFailed, storedGone, storedPage } from '#http/store-reply.ts'
import { NewTsigKey, NewTsigKeyAnswer, TsigKey, showTsigKey } from '../resources/tsig-key.ts'
import {
  NewTxtRecord,
  TxtRecord,
  showTxtRecord,
  txtRdata,
  valueBytesMax,
} from '../resources/txt-record.ts'

const route = routesOf({ tag: 'Dynamic DNS' })
const secretBytes = 32

const createKey = route('POST /api/v1/dns/tsig-keys', {
  needs: 'tsig:write',
  summary: 'Create a TSIG key; its secret is in this answer only',
  details:
    'It needs `GSLB_SECRET_KEY`, under which secrets are stored; without it the answer is 503.',
  body: NewTsigKey,
  responses: { 201: { description: 'The key and its secret', schema: NewTsigKeyAnswer } },
  refusals: [409],
  ports: ['config', 'auth', 'dynamicDns', 'hasTextsOfOthers', 'clock'],
  handle: async (context) => {
    const { caller, ports, body } = context
    const { secretKey } = ports.auth
    if (secretKey === null) return noSecretKey
    const algorithm = algorithmOf(body.algorithm)
    if (!algorithm.ok) return algorithm.error
    const name = absoluteName('name', checkHostName(body.name))
    if (!name.ok) return name.error
    const scope =
      body.scope === undefined ? ok(null) : ownName(context, 'scope', checkHostName(body.scope))
    if (!scope.ok) return scope.error
    const nowMs = ports.clock.nowMs()
    const secret = body.secret ?? randomBytes(secretBytes).toString('base64')
    const key = {
      id: uuidV7(nowMs),
      tenantId: caller.tenant,
      name: name.value,
      algorithm: algorithm.value,
      scope: scope.value,
      secretCiphertext: seal(secretKey, secret),
      createdAtMs: nowMs,
    }
    const stored = await ports.dynamicDns.createKey(key)
    if (stored.ok) return created({ ...showTsigKey(key), secret })
    if (stored.error.code === 'name-taken') return refused(409, 'name: another key has it')
    if (stored.error.code === 'too-many-keys') return refused(409, stored.error.message)
    return storeFailed(stored.error)
  },
})

const listKeys = route('GET /api/v1/dns/tsig-keys', {
  needs: 'tsig:read',
  withoutConfig: true,
  summary: 'TSIG keys by name, without their secrets',
  query: NamedPaging,
  responses: { 200: { description: 'Keys', schema: Type.Array(TsigKey) } },
  ports: ['dynamicDns'],
  handle: async ({ caller, ports, query }) => {
    const keys = await ports.dynamicDns.listKeys(scopeOf(caller))
    return storedPage(keys, withDnsName(query), ({ id }) => id, showTsigKey)
  },
})

const deleteKey = route('DELETE /api/v1/dns/tsig-keys/{id}', {
  needs: 'tsig:write',
  withoutConfig: true,
  summary: 'Delete a TSIG key: no update with it is carried out any more',
  responses: { 204: { description: 'It is gone', schema: null } },
  ports: ['dynamicDns'],
  handle: async ({ caller, ports, params }) => {
    return storedGone(await ports.dynamicDns.deleteKey(scopeOf(caller), params.id), 'TSIG key')
  },
})

const createRecord = route('POST /api/v1/dns/txt-records', {
  needs: 'txt:write',
  summary: 'Create a TXT record',
  details:
    'A tenant writes at names that are its own or free, the tenant `default` at every name. ' +
    'Outside of all zones of this server a record is stored, with a warning in ' +
    '`X-Gslb-Warnings`, and answered once a zone has it. The records of one name are answered ' +
    'with the smallest TTL among them. A name that is an alias (CNAME), delegated, or below a ' +
    'DNAME is refused with 409: nobody would get them.',
  body: NewTxtRecord,
  responses: { 201: { description: 'The record', schema: TxtRecord } },
  refusals: [409],
  ports: ['config', 'dynamicDns', 'hiddenBy', 'hasTextsOfOthers', 'domains', 'clock'],
  handle: async (context) => {
    const { caller, ports, body } = context
    const name = ownName(context, 'name', checkHostPattern(body.name))
    if (!name.ok) return name.error
    const unowned = await unownedRefusal(context, name.value)
    if (unowned !== undefined) return unowned
    const rdata = txtRdata(body.value)
    if (rdata === undefined) {
      return invalid('value', `must be at most ${valueBytesMax} octets in UTF-8`)
    }
    const hidden = ports.hiddenBy(name.value, writtenTypes.TXT)
    if (hidden !== undefined) return refused(409, `name: ${name.value} ${hiddenReasons[hidden]}`)
    const nowMs = ports.clock.nowMs()
    const record = {
      id: uuidV7(nowMs),
      tenantId: caller.tenant,
      name: name.value,
      type: writtenTypes.TXT,
      rdata,
      ttlSeconds: body.ttl ?? 60,
      createdAtMs: nowMs,
      writtenBy: actorOf(caller),
    }
    const stored = await ports.dynamicDns.createRecord(record)
    if (stored.ok) return created(showTxtRecord(record, undefined), warningsOf(context, record))
    const { code } = stored.error
    if (code === 'record-exists') return refused(409, 'value: the name has it already')
    if (code === 'is-alias') return refused(409, `name: ${name.value} ${hiddenReasons.alias}`)
    if (stored.error.code === 'too-many-records') return refused(409, stored.error.message)
    return storeFailed(stored.error)
  },
})

const listRecords = route('GET /api/v1/dns/txt-records', {
  needs: 'txt:read',
  withoutConfig: true,
  summary: 'TXT records by name, those of DNS UPDATE among them',
  query: NamedPaging,
  responses: { 200: { description: 'Records', schema: Type.Array(TxtRecord) } },
  ports: ['dynamicDns', 'hiddenBy'],
  handle: async ({ caller, ports, query }) => {
    const records = await ports.dynamicDns.listRecords(scopeOf(caller))
    const texts = records.ok ? ok(records.value.filter(isText)) : records
    return storedPage(
      texts,
      withDnsName(query),
      ({ id }) => id,
      (record) => showTxtRecord(record, ports.hiddenBy(record.name, record.type)),
    )
  },
})

const deleteRecord = route('DELETE /api/v1/dns/txt-records/{id}', {
  needs: 'txt:write',
  withoutConfig: true,
  summary: 'Delete a TXT record',
  responses: { 204: { description: 'It is gone', schema: null } },
  ports: ['dynamicDns'],
  handle: async ({ caller, ports, params }) => {
    const records = await ports.dynamicDns.listRecords(scopeOf(caller))
    if (!records.ok) return storeFailed(records.error)
    const found = records.value.find(({ id }) => id === params.id)
    if (found === undefined || !isText(found)) return missing('TXT record')
    return storedGone(await ports.dynamicDns.deleteRecord(scopeOf(caller), params.id), 'TXT record')
  },
})

const isText = ({ type }: StoredRecord): boolean => type === writtenTypes.TXT

/** Zones may be declared after the record. */
function warningsOf(
  { ports }: Pick<RouteContext<'config'>, 'ports'>,
  { name }: { readonly name: string },
): Record<string, string> {
  if (zoneOf(ports.config.snapshot(), name) !== undefined) return {}
  const text = `${name} is in no zone of this server: it is answered as soon as one has it`
  return { 'x-gslb-warnings': sentenceList([{ text, code: 'txt-outside-zones' }]) }
}

const hiddenReasons: Readonly<Record<HiddenBy, string>> = {
  alias: 'is an alias (CNAME), so that nobody would get the record; write it where the alias leads',
  declared: 'is in the configuration, so that nobody would get the record; write it there',
  delegation: 'is delegated to other servers, so that nobody would get the record; write it there',
  dname: 'is below a DNAME, so that nobody would get the record; write it where that leads',
}

const noSecretKey = withoutSecretKey('TSIG keys')

function algorithmOf(text: string = tsigAlgorithmNames[0]): Result<string, Reply> {
  const name = dnsNameOf(text)
  const known: readonly string[] = tsigAlgorithmNames
  if (known.includes(name)) return ok(name)
  const isMd5 = name.startsWith('hmac-md5.')
  const reason = isMd5 ? 'MD5 is too weak (RFC 8945 section 6)' : 'is no algorithm of this server'
  return err(invalid('algorithm', `${reason}; write one of ${tsigAlgorithmNames.join(', ')}`))
}

/** @returns the name in lower case, with the final dot */
function absoluteName(field: string, { key, fault }: CheckedName): Result<string, Reply> {
  if (key !== undefined && fault === undefined) return ok(key)
  return err(invalid(field, 'must be a domain name such as _acme-challenge.www.example.com.'))
}

/** A name at which the caller's tenant may write, in a zone of this configuration or not. */
function ownName(
  { caller, ports }: Pick<RouteContext<'config' | 'hasTextsOfOthers'>, 'caller' | 'ports'>,
  field: string,
  checked: CheckedName,
): Result<string, Reply> {
  const name = absoluteName(field, checked)
  if (!name.ok) return name
  const { tenant } = caller
  if (caller.isSystemAdmin || tenant === defaultTenant) return name
  const source = nameSource(ports.config.snapshot())
  const hasOthers = ports.hasTextsOfOthers(tenant, name.value)
  const refusal = textRefusal(source, { tenant, name: name.value, hasOthers })
  if (refusal === undefined) return name
  return err(refused(409, `${field}: ${refusalText(refusal, name.value)}`))
}

export const dnsRoutes = Object.freeze([
  createKey,
  listKeys,
  deleteKey,
  createRecord,
  listRecords,
  deleteRecord,
])
