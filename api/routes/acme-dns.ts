// /acme-dns/…: what acme-dns offers to ACME clients, with its words, so that their plug-ins work;
// and the list of their keys.
import { Type } from '#lib/schema/type.ts'
import { scopeOf } from '#access/grants.ts'
import { NamedPaging, withDnsName } from '#http/paging.ts'
import { nullable, unixSeconds, UnixSeconds } from '#http/shapes.ts'
import { created, later, success } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import { storedGone, storedPage } from '#http/store-reply.ts'
import { routesOf } from '#api/route/route.ts'
import type { AcmeDnsFault, AcmeDnsKey as ListedKey } from '#ports/acme-dns.ts'

const route = routesOf({ tag: 'Certificates', withoutConfig: true })

/** Its clients look at these words. */
const FaultBody = Type.Object({ error: Type.String() })
const refusalBodies = { 400: FaultBody, 401: FaultBody, 404: FaultBody }

const statuses: Readonly<Record<Exclude<AcmeDnsFault['code'], 'away'>, number>> = {
  ...{ off: 404, forbidden: 401, full: 409 },
  ...{ bad_txt: 400, invalid_allowfrom_cidr: 400 },
}

function refuse({ code, message }: AcmeDnsFault): Reply {
  if (code === 'away') return later(503, message, retryAfterSeconds)
  const isWord = code !== 'off' && code !== 'full'
  return { status: statuses[code], body: { error: isWord ? code : message } }
}

const retryAfterSeconds = 5
const tooMany = (waitMs: number): Reply | null =>
  waitMs === 0 ? null : later(429, 'too many requests from this address; wait', waitMs / 1_000)

const register = route('POST /acme-dns/register', {
  needs: 'public',
  takesAnyType: true,
  summary: 'A name and a key for one ACME client, as acme-dns gives them',
  details: 'Off without `acmeDns.domain`; for the networks of `acmeDns.registerFrom`.',
  body: Type.Object(
    { allowfrom: Type.Optional(nullable(Type.Array(Type.String()))) },
    { additionalProperties: true },
  ),
  responses: {
    201: {
      description: 'The password is said once',
      schema: Type.Object({
        ...{ username: Type.String(), password: Type.String(), fulldomain: Type.String() },
        ...{ subdomain: Type.String(), allowfrom: Type.Array(Type.String()) },
      }),
    },
  },
  refusals: [400, 401, 404, 409, 429],
  refusalBodies,
  ports: ['acmeDns', 'acmeDnsRegistrations'],
  precheck: ({ address }, { acmeDnsRegistrations }) => tooMany(acmeDnsRegistrations.take(address)),
  handle: async ({ ports, body: { allowfrom }, request }) => {
    const made = await ports.acmeDns.register(allowfrom ?? [], request.address)
    if (!made.ok) return refuse(made.error)
    return created(made.value)
  },
})

const update = route('POST /acme-dns/update', {
  needs: 'public',
  takesAnyType: true,
  summary: 'Sets a TXT value of the name of a key; the two newest stay',
  details: 'The key is in the headers `X-Api-User` and `X-Api-Key`.',
  body: Type.Object(
    { subdomain: Type.String(), txt: Type.String() },
    { additionalProperties: true },
  ),
  responses: {
    200: { description: 'It is answered', schema: Type.Object({ txt: Type.String() }) },
  },
  refusals: [400, 401, 404, 409, 429],
  refusalBodies,
  ports: ['acmeDns', 'acmeDnsUpdates'],
  precheck: ({ address }, { acmeDnsUpdates }) => tooMany(acmeDnsUpdates.take(address)),
  handle: async ({ ports, body: { subdomain, txt }, request }) => {
    const [username, password] = [request.header('x-api-user'), request.header('x-api-key')]
    const { address } = request
    const done = await ports.acmeDns.update({ username, password, subdomain, txt, address })
    return done.ok ? success({ txt }) : refuse(done.error)
  },
})

const health = route('GET /acme-dns/health', {
  needs: 'public',
  summary: 'Whether the endpoint is on',
  responses: { 200: { description: 'It is', schema: Type.Object({}) } },
  refusals: [404],
  ports: ['acmeDns'],
  handle: ({ ports }) =>
    ports.acmeDns.isOn ? success({}) : { status: 404, body: { error: 'off' } },
})

const AcmeDnsKey = Type.Object(
  {
    id: Type.String({ description: 'Its user' }),
    tenantId: Type.String(),
    name: Type.String({
      description:
        'The name whose TXT values it sets, with the final dot; empty: the endpoint is off',
    }),
    allowFrom: Type.Array(Type.String(), { description: 'Networks; empty: all' }),
    createdAt: UnixSeconds,
  },
  { title: 'Key of acme-dns' },
)

const listKeys = route('GET /api/v1/acme-dns/keys', {
  needs: 'tsig:read',
  summary: 'Keys of the acme-dns endpoint by name, without their passwords',
  details: 'They are of the tenant `acmeDns.tenant`.',
  query: NamedPaging,
  responses: { 200: { description: 'Keys', schema: Type.Array(AcmeDnsKey) } },
  ports: ['acmeDns'],
  handle: async ({ caller, ports, query }) => {
    const listed = await ports.acmeDns.list(scopeOf(caller))
    return storedPage(listed, withDnsName(query), ({ username }) => username, showKey)
  },
})

const deleteKey = route('DELETE /api/v1/acme-dns/keys/{id}', {
  needs: 'tsig:write',
  summary: 'Delete a key of the acme-dns endpoint, with the TXT values that it has set',
  responses: { 204: { description: 'It is gone', schema: null } },
  ports: ['acmeDns'],
  handle: async ({ caller, ports, params }) => {
    return storedGone(await ports.acmeDns.delete(scopeOf(caller), params.id), 'key of acme-dns')
  },
})

function showKey({ username, tenantId, name, allowFrom, createdAtMs }: ListedKey) {
  const createdAt = unixSeconds(createdAtMs)
  return { id: username, tenantId, name, allowFrom, createdAt }
}

export const acmeDnsRoutes = Object.freeze([register, update, health, listKeys, deleteKey])
