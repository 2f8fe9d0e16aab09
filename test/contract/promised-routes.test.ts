// The routes that clients are promised, and OpenAPI: neither has one that the other does not know.
import { expect, test } from 'vitest'
import { openApiOf } from '#api/reference/openapi.ts'
import { routes } from '#api/routes.ts'

/**
 * Method, path, permission and status of success; what a request takes, with `?` where it may be
 * left out; what the answer has, of a list each element. `-`: nothing, or nothing that is promised.
 */
const promised = `
GET /health public 200 - status
GET /dashboard/stats pool:read 200 - -
GET /snapshot snapshot:read 200 - -
POST /pools pool:write 201 name id,name
GET /pools pool:read 200 - id,name
GET /pools/{id} pool:read 200 - id,name
PUT /pools/{id} pool:write 200 name id,name
DELETE /pools/{id} pool:delete 204 - -
GET /pools/{id}/status pool:read 200 - members
POST /pools/{id}/members member:write 201 ipAddress?,port,weight?,priority?,region?,name?,
  warmupThreshold?,rumUrl?,externalSignalMode? id,poolId,ipAddress,port,weight,priority,enabled,
  region
GET /pools/{id}/members member:read 200 - id,weight,enabled
GET /members/{id} member:read 200 - id,weight,enabled
PUT /members/{id} member:write 200 weight?,priority?,enabled?,name?,region?,warmupThreshold?,
  rumUrl?,externalSignalMode? id,weight,enabled
DELETE /members/{id} member:delete 204 - -
GET /members/{id}/status member:read 200 - healthy,score
POST /services service:write 201 name,domain,algorithm?,ttl?,poolId?,filterChain? id,name,domain,
  algorithm,ttl,poolId,filterChain
GET /services service:read 200 - id,name,domain
GET /services/{id} service:read 200 - id,name,domain
PUT /services/{id} service:write 200 name,domain,algorithm?,ttl?,poolId?,filterChain? id,name,domain
DELETE /services/{id} service:delete 204 - -
PUT /pools/{id}/healthcheck hc:write 200 type?,port?,intervalMs? type,port,intervalMs
GET /pools/{id}/healthcheck hc:read 200 - type,port,intervalMs
DELETE /pools/{id}/healthcheck hc:delete 204 - -
GET /pools/{poolId}/georules geo:read 200 - id,cidr,endpoint,priority
POST /pools/{poolId}/georules geo:write 201 cidr,endpoint,priority? id,cidr,endpoint,priority
PUT /georules/{id} geo:write 200 cidr,endpoint,priority id,cidr,endpoint,priority
DELETE /georules/{id} geo:delete 204 - -
POST /auth/setup public 201 email,password id,email
POST /auth/login public 200 email,password,totpCode? token,userId,role,expiresAt
POST /auth/logout any 204 - -
GET /auth/me any 200 - permissions,isSystemAdmin
POST /auth/totp/setup session 200 - secret
POST /auth/totp/verify session 200 code -
GET /auth/config public 200 - oidcEnabled
GET /auth/oidc/authorize public 302 - -
GET /auth/oidc/callback public 302 - -
GET /users user:read 200 - id,email
POST /users user:write 201 email,displayName?,password,role id,email
GET /users/{id} user:read 200 - id,email
PUT /users/{id} user:write 200 displayName?,role?,password? id,email
DELETE /users/{id} user:delete 204 - -
GET /roles role:read 200 - id,name,permissions
POST /roles role:write 201 name,permissions id,name,permissions
GET /roles/{id} role:read 200 - id,name,permissions
PUT /roles/{id} role:write 200 permissions id,name,permissions
DELETE /roles/{id} role:write 204 - -
POST /tenants system 201 name,rpsLimit? tenant,apiKey
GET /tenants system 200 - id,name
DELETE /tenants/{id} system 204 - -
GET /usage usage:read_own 200 - tenantId,period,dnsQueries,apiCalls
GET /tenants/{id}/usage system 200 - tenantId,period,dnsQueries,apiCalls
GET /license license:read 200 - -
POST /license license:write 200 token -
GET /ws/token snapshot:read 200 - token,expiresAt
GET /ws public 101 - -

GET /redirects redirect:read 200 - id,tenantId,sourceFqdn,targetUrl,code,preservePath,createdAt
POST /redirects redirect:write 201 sourceFqdn,targetUrl,code?,preservePath? id,tenantId,
  sourceFqdn,targetUrl,code,preservePath,createdAt
DELETE /redirects/{id} redirect:write 204 - -
GET /domains domain:read 200 - id,domain,verified,nsOk,dsOk,lastVerifiedAt,verificationError,
  createdAt
POST /domains domain:write 201 domain id,domain,verified,nsOk,dsOk,lastVerifiedAt,
  verificationError,createdAt
POST /domains/{id}/verify domain:write 200 - id,domain,verified,nsOk,dsOk,lastVerifiedAt,
  verificationError
DELETE /domains/{id} domain:write 204 - -
GET /rollouts rollout:read 200 - id,memberId,steps,regressionPolicy,state,currentStep
POST /rollouts rollout:write 201 memberId,steps,regressionPolicy? id,memberId,steps,
  regressionPolicy,state,currentStep
GET /rollouts/{id} rollout:read 200 - id,memberId,steps,regressionPolicy,state,currentStep
POST /rollouts/{id}/pause rollout:write 200 - id,state
POST /rollouts/{id}/promote rollout:write 200 - id,state
POST /rollouts/{id}/abort rollout:write 200 - id,state
POST /dns/tsig-keys tsig:write 201 name,algorithm? id,tenantId,name,algorithm,secret,createdAt
GET /dns/tsig-keys tsig:read 200 - id,tenantId,name,algorithm,createdAt
DELETE /dns/tsig-keys/{id} tsig:write 204 - -
GET /dns/txt-records txt:read 200 - id,name,value,ttl
POST /dns/txt-records txt:write 201 name,value,ttl? id,name,value,ttl
DELETE /dns/txt-records/{id} txt:write 204 - -
GET /rpz/rules rpz:read 200 - id,triggerType,triggerValue,action,actionTarget,source,hitCount
POST /rpz/rules rpz:write 201 triggerType,triggerValue,action,actionTarget?,source? id,
  triggerType,triggerValue,action,actionTarget,source,hitCount
DELETE /rpz/rules/{id} rpz:write 204 - -
POST /members/{id}/health-signal member:write 200 - source,healthy,score
GET /members/{id}/health-signals member:read 200 - source,healthy,score,expiresAt
POST /maintenance-windows maintenance:write 201 resourceType,resourceId,startAt,endAt id,
  resourceType,resourceId,startAt,endAt,status
GET /maintenance-windows maintenance:read 200 - id,resourceType,resourceId,startAt,endAt,status
DELETE /maintenance-windows/{id} maintenance:write 204 - -
GET /rum.js public 200 - -
GET /rum/config public 200 - -
POST /rum/ingest public 200 domain,samples -
GET /rum/status pool:read 200 - subnets,measurements,members
POST /simulate service:read 200 name,type?,client?,subnet?,at?,health?,node? commit,digest,rule,
  scope

GET /explain/{code} any 200 - code,severity,message,cause,help
GET /alerts alert:read 200 - id,name,kind
POST /alerts alert:write 201 name,kind,settings id,name,kind
GET /alerts/{id} alert:read 200 - id,name,kind
PUT /alerts/{id} alert:write 200 name?,settings? id,name,kind
DELETE /alerts/{id} alert:write 204 - -
POST /alerts/{id}/test alert:write 200 - delivered,error
GET /alerts/events alert:read 200 - id,condition,state
GET /alerts/silences alert:read 200 - id,until
POST /alerts/silences alert:write 201 seconds id,until
DELETE /alerts/silences/{id} alert:write 204 - -
GET /history history:read 200 - commit,author,time,subject,objects,verdict,activeAt,activeOn
GET /history/{commit} history:read 200 - commit,author,time,subject,objects,verdict,activeAt,
  activeOn
POST /history/{commit}/revert history:write 201 - commit
GET /pools/{id}/history history:read 200 - commit,author,time,subject,objects,verdict
GET /settings settings:read 200 - node,repository
PUT /settings settings:write 200 - node,repository
GET /cluster/nodes cluster:status 200 - name,version,commit,digest,seq,ageSeconds,load,health
POST /cluster/nodes/{name}/restart cluster:restart 202 - name,status
GET /bgp bgp:status 200 - -
`

/** Of our own: nobody was promised them, and a new one is named here. */
const ours = `
GET /ready
PATCH /pools/{id}
PATCH /members/{id}
PATCH /services/{id}
PATCH /pools/{id}/healthcheck
POST /records
GET /records
GET /records/{id}
PUT /records/{id}
PATCH /records/{id}
DELETE /records/{id}
GET /deliveries
POST /deliveries/{channel}/pause
POST /deliveries/{channel}/resume
POST /deliveries/{channel}/promote
POST /deliveries/{channel}/abort
GET /gitops/status
GET /openapi.json
GET /docs
GET /docs/{file}
`

interface Schema {
  readonly properties?: Readonly<Record<string, unknown>>
  readonly required?: readonly string[]
  readonly items?: Schema
}
type Content = { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }
interface Operation {
  readonly 'x-permission': string
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content | undefined>>
}

const { paths } = openApiOf(routes) as unknown as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}
const schemaIn = (content: Content | undefined): Schema => {
  const [first] = Object.values(content?.content ?? {})
  return first?.schema.items ?? first?.schema ?? {}
}
const linesOf = (text: string): readonly (readonly string[])[] =>
  text
    .replaceAll(',\n  ', ',')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(' '))
const namesIn = (field = '-'): readonly string[] => (field === '-' ? [] : field.split(','))

test.each(linesOf(promised))(
  '%s %s',
  (method = '', path = '', permission, status = '', ...fields) => {
    const operation = paths[`/api/v1${path}`]?.[method.toLowerCase()]
    expect(operation?.['x-permission']).toBe(permission)
    expect(Object.keys(operation!.responses)).toContain(status)
    const [takes, has] = fields.map(namesIn)
    const asked = schemaIn(operation!.requestBody)
    const told = Object.keys(asked.properties ?? {}).map(
      (name) => name + (asked.required?.includes(name) === true ? '' : '?'),
    )
    expect(told).toEqual(expect.arrayContaining([...takes!]))
    const answered = Object.keys(schemaIn(operation!.responses[status]).properties ?? {})
    expect(answered).toEqual(expect.arrayContaining([...has!]))
  },
)

test('a secret of a key is in the answer that makes it alone', () => {
  const { get } = paths['/api/v1/dns/tsig-keys']!
  expect(Object.keys(schemaIn(get!.responses['200']).properties!)).not.toContain('secret')
})

test('each route was promised, or is named as our own', () => {
  const known = [...linesOf(promised), ...linesOf(ours)].map(
    ([method, path]) => `${method} ${path}`,
  )
  const there = Object.entries(paths)
    .filter(([path]) => path.startsWith('/api/v1/'))
    .flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path.slice(7)}`),
    )
  expect(known.toSorted()).toEqual(there.toSorted())
})
