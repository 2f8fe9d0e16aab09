// Lists an example for each route: its callers, its object and its body.
import { newChannel, newSilence } from './alerts.ts'
import type { ConfigWorld } from './config-world.ts'
import { keyOf, recordsZone, rootKey } from './config-world.ts'
import { newUser, valueOf } from './store-values.ts'

export type Params = Readonly<Record<string, string>>

interface RouteCase {
  /** See docs/operations/access.md. */
  readonly needs: string
  /** Only the tenant `default` may call it, whatever the roles of others. */
  readonly ofPlatform?: true
  /** Makes the object that the route is about, for this tenant; left out: none. */
  readonly make?: (world: ConfigWorld, tenant: string) => Promise<Params>
  readonly body?: () => unknown
  /** Statuses of an allowed call; default: the statuses of success in the table. */
  readonly statuses?: readonly number[]
}

let count = 0
const unique = (word: string): string => `${word}-${++count}`

const made = async (
  world: ConfigWorld,
  tenant: string,
  path: string,
  body: unknown,
): Promise<string> => {
  const answer = await world.call(keyOf(tenant), 'POST', path, body)
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.body.id
}
const pool = async (world: ConfigWorld, tenant: string): Promise<Params> => ({
  id: await made(world, tenant, '/pools', { name: unique('pool') }),
})
const member = async (world: ConfigWorld, tenant: string): Promise<Params> => {
  const { id = '' } = await pool(world, tenant)
  return { id: await made(world, tenant, `/pools/${id}/members`, endpoint) }
}
const channel = async (): Promise<Params> => ({ name: 'main' })
const digest = async (): Promise<Params> => ({ digest: 'a'.repeat(64) })
const service = async (world: ConfigWorld, tenant: string): Promise<Params> => ({
  id: await made(world, tenant, '/services', newService()),
})
const checkedPool = async (world: ConfigWorld, tenant: string): Promise<Params> => {
  const { id = '' } = await pool(world, tenant)
  await world.call(keyOf(tenant), 'PUT', `/pools/${id}/healthcheck`, {})
  return { id }
}
const filledPool = async (world: ConfigWorld, tenant: string): Promise<Params> => {
  const { id = '' } = await pool(world, tenant)
  await made(world, tenant, `/pools/${id}/members`, endpoint)
  return { id, poolId: id }
}
const geoRule = async (world: ConfigWorld, tenant: string): Promise<Params> => {
  const { id = '' } = await filledPool(world, tenant)
  return { id: await made(world, tenant, `/pools/${id}/georules`, rule) }
}
const user = async ({ ports }: ConfigWorld, tenantId: string): Promise<Params> => {
  const id = unique('user')
  await valueOf(ports.users.create(newUser(id, { tenantId, email: `${id}@example.com` })))
  return { id }
}
const role = async ({ ports }: ConfigWorld, tenantId: string): Promise<Params> => {
  const id = unique('role')
  const name = { id, name: id, tenantId }
  await valueOf(ports.roles.create({ ...name, permissions: ['pool:read'], createdAtMs: 1 }))
  return { id }
}
const tenant = async (world: ConfigWorld): Promise<Params> => {
  const answer = await world.call(rootKey, 'POST', '/tenants', { name: unique('tenant') })
  return { id: (JSON.parse(answer.text) as { tenant: { id: string } }).tenant.id }
}

const maintenance = async (world: ConfigWorld, tenant: string): Promise<Params> => {
  const { id = '' } = await member(world, tenant)
  return { id: await made(world, tenant, '/maintenance-windows', newWindow(id)) }
}
const rollout = async (world: ConfigWorld, tenant: string): Promise<Params> => {
  const { id = '' } = await member(world, tenant)
  return { id: await made(world, tenant, '/rollouts', newRollout(id)) }
}

const record = async (world: ConfigWorld, tenant: string): Promise<Params> => ({
  id: await made(world, tenant, '/records', newRecord()),
})
const storedKey = async ({ ports }: ConfigWorld, tenantId: string): Promise<Params> => {
  const id = unique('key')
  const key = { ...{ id, tenantId, name: `${id}.`, algorithm: 'hmac-sha256.' }, scope: null }
  await valueOf(ports.dynamicDns.createKey({ ...key, secretCiphertext: 'x', createdAtMs: 1 }))
  return { id }
}
const storedRecord = async ({ ports }: ConfigWorld, tenantId: string): Promise<Params> => {
  const id = unique('txt')
  const record = { ...{ id, tenantId, name: `${id}.`, type: 16 }, rdata: 'AWE=', ttlSeconds: 60 }
  await valueOf(ports.dynamicDns.createRecord({ ...record, createdAtMs: 1, writtenBy: '' }))
  return { id }
}

const alertChannel = async ({ ports }: ConfigWorld, tenantId: string): Promise<Params> => {
  const id = unique('channel')
  await valueOf(ports.alerts.createChannel(newChannel(id, { tenantId })))
  return { id }
}
const silence = async ({ ports }: ConfigWorld, tenantId: string): Promise<Params> => {
  const id = unique('silence')
  await valueOf(ports.alerts.createSilence(newSilence(id, { tenantId })))
  return { id }
}
const domain = async (world: ConfigWorld, tenant: string): Promise<Params> => ({
  id: await made(world, tenant, '/domains', newDomain()),
})

const commit = async (world: ConfigWorld, tenant: string): Promise<Params> => {
  await pool(world, tenant)
  return { commit: world.git('rev-parse', 'main') }
}

/** A rule belongs to no tenant: every caller with the permission sees it. */
const responseRule = async (world: ConfigWorld): Promise<Params> => {
  const answer = await world.call(rootKey, 'POST', '/rpz/rules', newResponseRule())
  return { id: answer.body.id }
}

const newExemptNetwork = () => ({ cidr: `10.${++count >> 8}.${count & 255}.0/24` })
const exemptNetwork = async (world: ConfigWorld): Promise<Params> => {
  const answer = await world.call(rootKey, 'POST', '/rrl/allowlist', newExemptNetwork())
  return { id: answer.body.id }
}

const noZone = async (): Promise<Params> => ({ zone: 'none.example.', id: '13-1' })
const newAlertChannel = () => ({
  name: unique('channel'),
  kind: 'webhook',
  settings: { url: 'https://hooks.example.net/x', secret: 'x'.repeat(32) },
})
const newResponseRule = () => ({
  triggerType: 'exact',
  triggerValue: `${unique('bad')}.example`,
  action: 'nxdomain',
})
const redirected = async (world: ConfigWorld, tenant: string): Promise<Params> => ({
  id: await made(world, tenant, '/redirects', newRedirect()),
})
const newRedirect = () => ({
  sourceFqdn: `${unique('old')}.example.com`,
  targetUrl: 'https://www.example.com/',
})
const newDomain = () => ({ domain: `${unique('zone')}.example.org` })
const measured = () => ({
  domain: 'www.example.com.',
  samples: [{ ip: '192.0.2.10', latencyMs: 20 }],
})
const signal = () => ({ source: 'monitor', healthy: true })
const newWindow = (resourceId: string) => ({
  resourceType: 'member',
  resourceId,
  startAt: '2126-01-01T00:00:00Z',
  endAt: '2126-01-01T01:00:00Z',
})
const newRollout = (memberId: string) => ({
  memberId,
  steps: [{ weightPct: 50, holdSeconds: 0 }],
})
const endpoint = { ipAddress: '192.0.2.10', port: 443 }
const rule = { cidr: '198.51.100.0/24', endpoint: '192.0.2.10', priority: 5 }
const newService = () => ({ name: unique('service'), domain: `${unique('www')}.example.com.` })
const newRecord = () => ({
  zone: recordsZone,
  name: unique('text'),
  type: 'TXT',
  values: ['"x"'],
})
const account = () => ({
  email: `${unique('new')}@example.com`,
  displayName: 'New',
  password: 'correct horse',
  role: 'viewer',
})
const tsigKey = () => ({ name: `${unique('key')}.example.com.` })
const txtRecord = () => ({ name: `${unique('txt')}.${recordsZone}`, value: 'token' })
const named = () => ({ name: unique('name') })
const stopsDelivery = {
  needs: 'delivery:write',
  ofPlatform: true,
  make: async (): Promise<Params> => ({ channel: 'other' }),
  statuses: [404],
} as const

const anyone = { needs: 'public' } as const

/** By the operation's id in the OpenAPI document. */
export const routeCases: Readonly<Record<string, RouteCase>> = {
  getHealth: anyone,
  getReady: anyone,
  get: anyone,
  getOpenapiJson: anyone,
  getDocs: anyone,
  // The page has no file of this name.
  getDocsByFile: { ...anyone, statuses: [404] },
  getMetrics: { needs: 'cluster:status', ofPlatform: true },
  getGitopsStatus: { needs: 'settings:read' },
  postSync: { needs: 'settings:write', ofPlatform: true },
  getSettings: { needs: 'settings:read', ofPlatform: true },
  putSettings: {
    needs: 'settings:write',
    ofPlatform: true,
    body: () => ({ guardrails: { removedNames: 50 } }),
  },
  getClusterNodes: { needs: 'cluster:status', ofPlatform: true },
  postClusterNodesByNameRestart: { needs: 'cluster:restart', ofPlatform: true },
  getDeliveries: { needs: 'delivery:read', ofPlatform: true },
  postDeliveriesByChannelPause: stopsDelivery,
  postDeliveriesByChannelResume: stopsDelivery,
  postDeliveriesByChannelPromote: stopsDelivery,
  postDeliveriesByChannelAbort: stopsDelivery,
  getBgp: { needs: 'bgp:status', ofPlatform: true },
  getDiscoverySources: { needs: 'cluster:status', ofPlatform: true },
  postDiscoverySourcesByNameAccept: {
    ...{ needs: 'settings:write', ofPlatform: true, statuses: [404] },
    make: async (): Promise<Params> => ({ name: 'other' }),
  },
  getZoneTransfers: { needs: 'cluster:status', ofPlatform: true },
  postZoneTransfersByZoneAccept: {
    ...{ needs: 'settings:write', ofPlatform: true, statuses: [404] },
    body: () => ({ reason: 'it is meant' }),
    make: async (): Promise<Params> => ({ zone: 'example.net.' }),
  },
  getZonePushes: { needs: 'settings:read', ofPlatform: true },
  getZonePushesByNamePlan: {
    ...{ needs: 'settings:read', ofPlatform: true, statuses: [404] },
    make: async (): Promise<Params> => ({ name: 'other' }),
  },
  postZonePushesByNameApply: {
    ...{ needs: 'settings:write', ofPlatform: true, body: () => ({}), statuses: [404] },
    make: async (): Promise<Params> => ({ name: 'other' }),
  },
  getAuthConfig: anyone,
  postAuthSetup: { ...anyone, body: account, statuses: [404] },
  postAuthLogin: {
    ...anyone,
    body: () => ({ email: 'eve@example.com', password: 'x' }),
    statuses: [401, 429],
  },
  postAuthLogout: { needs: 'any' },
  getAuthMe: { needs: 'any' },
  postAuthTotpSetup: { needs: 'session', statuses: [200, 409] },
  postAuthTotpVerify: { needs: 'session', body: () => ({ code: '000000' }), statuses: [400, 409] },
  // Without a provider: test/unit/api/oidc.test.ts has one.
  getAuthOidcAuthorize: { ...anyone, statuses: [404] },
  getAuthOidcCallback: { ...anyone, statuses: [404] },
  getUsers: { needs: 'user:read' },
  postUsers: { needs: 'user:write', body: account },
  getUsersById: { needs: 'user:read', make: user },
  putUsersById: { needs: 'user:write', make: user, body: () => ({ displayName: 'x' }) },
  deleteUsersById: { needs: 'user:delete', make: user },
  getRoles: { needs: 'role:read' },
  postRoles: { needs: 'role:write', body: () => ({ ...named(), permissions: [] }) },
  getRolesById: { needs: 'role:read', make: role },
  putRolesById: { needs: 'role:write', make: role, body: () => ({ permissions: [] }) },
  deleteRolesById: { needs: 'role:write', make: role },
  getTenants: { needs: 'system' },
  postTenants: { needs: 'system', body: named },
  deleteTenantsById: { needs: 'system', make: tenant },
  postTenantsByIdKey: { needs: 'system', make: tenant },
  deleteTenantsByIdKey: { needs: 'system', make: tenant },
  getPools: { needs: 'pool:read' },
  postPools: { needs: 'pool:write', body: named },
  getPoolsById: { needs: 'pool:read', make: pool },
  putPoolsById: { needs: 'pool:write', make: pool, body: named },
  patchPoolsById: { needs: 'pool:write', make: pool, body: () => ({ minHealthy: 0 }) },
  deletePoolsById: { needs: 'pool:delete', make: pool },
  getPoolsByIdMembers: { needs: 'member:read', make: pool },
  postPoolsByIdMembers: { needs: 'member:write', make: pool, body: () => endpoint },
  getMembersById: { needs: 'member:read', make: member },
  putMembersById: { needs: 'member:write', make: member, body: () => ({ weight: 7 }) },
  patchMembersById: { needs: 'member:write', make: member, body: () => ({ weight: null }) },
  deleteMembersById: { needs: 'member:delete', make: member },
  getRecords: { needs: 'record:read' },
  postRecords: { needs: 'record:write', body: newRecord },
  getRecordsById: { needs: 'record:read', make: record },
  putRecordsById: { needs: 'record:write', make: record, body: () => ({ values: ['"y"'] }) },
  patchRecordsById: { needs: 'record:write', make: record, body: () => ({ ttl: 60 }) },
  deleteRecordsById: { needs: 'record:write', make: record },
  getServices: { needs: 'service:read' },
  postServices: { needs: 'service:write', body: newService },
  getServicesById: { needs: 'service:read', make: service },
  putServicesById: { needs: 'service:write', make: service, body: newService },
  patchServicesById: { needs: 'service:write', make: service, body: () => ({ ttl: 30 }) },
  deleteServicesById: { needs: 'service:delete', make: service },
  getPoolsByIdHealthcheck: { needs: 'hc:read', make: checkedPool },
  putPoolsByIdHealthcheck: { needs: 'hc:write', make: pool, body: () => ({ type: 'tcp' }) },
  patchPoolsByIdHealthcheck: {
    needs: 'hc:write',
    make: checkedPool,
    body: () => ({ port: 8080 }),
  },
  deletePoolsByIdHealthcheck: { needs: 'hc:delete', make: checkedPool },
  getPoolsByPoolIdGeorules: { needs: 'geo:read', make: filledPool },
  postPoolsByPoolIdGeorules: { needs: 'geo:write', make: filledPool, body: () => rule },
  putGeorulesById: { needs: 'geo:write', make: geoRule, body: () => rule },
  deleteGeorulesById: { needs: 'geo:delete', make: geoRule },
  getPoolsByIdStatus: { needs: 'pool:read', make: pool },
  getMembersByIdStatus: { needs: 'member:read', make: member },
  // What it says: test/unit/cli/plan-of-node.test.ts.
  getHealthMembers: { needs: 'pool:read' },
  getDashboardStats: { needs: 'pool:read' },
  getSnapshot: { needs: 'snapshot:read' },
  postMembersByIdHealthSignal: { needs: 'member:write', make: member, body: signal },
  getMembersByIdHealthSignals: { needs: 'member:read', make: member },
  getMaintenanceWindows: { needs: 'maintenance:read' },
  postMaintenanceWindows: {
    needs: 'maintenance:write',
    body: () => newWindow('nobody'),
    statuses: [400],
  },
  deleteMaintenanceWindowsById: { needs: 'maintenance:write', make: maintenance },
  getRollouts: { needs: 'rollout:read' },
  postRollouts: { needs: 'rollout:write', body: () => newRollout('nobody'), statuses: [400] },
  getRolloutsById: { needs: 'rollout:read', make: rollout },
  // Pending: nothing to pause or to promote yet.
  postRolloutsByIdPause: { needs: 'rollout:write', make: rollout, statuses: [409] },
  postRolloutsByIdPromote: { needs: 'rollout:write', make: rollout, statuses: [409] },
  postRolloutsByIdAbort: { needs: 'rollout:write', make: rollout },
  getDnsTsigKeys: { needs: 'tsig:read' },
  postDnsTsigKeys: { needs: 'tsig:write', body: tsigKey },
  deleteDnsTsigKeysById: { needs: 'tsig:write', make: storedKey },
  getDnsTxtRecords: { needs: 'txt:read' },
  getDnsWrittenRecords: { needs: 'txt:read' },
  deleteDnsWrittenRecordsById: { needs: 'txt:write', make: storedRecord },
  // No service of the tenant has the name: test/unit/api/routes/dns.test.ts tests one that has.
  postDnsTxtRecords: { needs: 'txt:write', body: txtRecord, statuses: [201, 400] },
  deleteDnsTxtRecordsById: { needs: 'txt:write', make: storedRecord },
  getAlerts: { needs: 'alert:read' },
  postAlerts: { needs: 'alert:write', body: newAlertChannel },
  getAlertsById: { needs: 'alert:read', make: alertChannel },
  putAlertsById: { needs: 'alert:write', make: alertChannel, body: () => ({ enabled: false }) },
  deleteAlertsById: { needs: 'alert:write', make: alertChannel },
  // What it sends: test/unit/api/routes/alerts.test.ts.
  postAlertsByIdTest: { needs: 'alert:write', make: alertChannel, statuses: [200, 429] },
  getAlertsEvents: { needs: 'alert:read' },
  getAlertsSilences: { needs: 'alert:read' },
  postAlertsSilences: { needs: 'alert:write', body: () => ({ seconds: 60 }) },
  deleteAlertsSilencesById: { needs: 'alert:write', make: silence },
  getRpzRules: { needs: 'rpz:read' },
  postRpzRules: { needs: 'rpz:write', body: newResponseRule },
  deleteRpzRulesById: { needs: 'rpz:write', make: responseRule },
  getRrlAllowlist: { needs: 'rrl:read', ofPlatform: true },
  postRrlAllowlist: { needs: 'rrl:write', ofPlatform: true, body: newExemptNetwork },
  deleteRrlAllowlistById: { needs: 'rrl:write', ofPlatform: true, make: exemptNetwork },
  // A node with keys: test/unit/api/routes/dnssec.test.ts.
  postAcmeDnsRegister: { ...anyone, body: () => ({ allowfrom: [] }), statuses: [404, 429] },
  postAcmeDnsUpdate: {
    ...anyone,
    ...{ body: () => ({ subdomain: 'a', txt: 'b' }), statuses: [404, 429] },
  },
  getAcmeDnsKeys: { needs: 'tsig:read' },
  // One that there is: test/unit/api/routes/acme-dns.test.ts.
  deleteAcmeDnsKeysById: {
    needs: 'tsig:write',
    make: async () => ({ id: 'none' }),
    statuses: [404],
  },
  getAcmeDnsHealth: { ...anyone, statuses: [404] },
  getAcmeCertificates: { needs: 'settings:read', ofPlatform: true },
  getDnssecZones: { needs: 'dnssec:read' },
  getDnssecZonesByZone: { needs: 'dnssec:read', make: noZone, statuses: [404] },
  postDnssecZonesByZoneRoll: {
    ...{ needs: 'dnssec:write', make: noZone, statuses: [404] },
    body: () => ({}),
  },
  postDnssecZonesByZoneDsSeen: {
    ...{ needs: 'dnssec:write', make: noZone, statuses: [404] },
    body: () => ({ tag: 1 }),
  },
  postDnssecZonesByZoneKeys: {
    ...{ needs: 'dnssec:write', make: noZone, statuses: [404] },
    body: () => ({ record: 'x', privateKey: 'x' }),
  },
  deleteDnssecZonesByZoneKeysById: {
    ...{ needs: 'dnssec:write', make: noZone, statuses: [404] },
  },
  getRedirects: { needs: 'redirect:read' },
  postRedirects: { needs: 'redirect:write', body: newRedirect },
  deleteRedirectsById: { needs: 'redirect:write', make: redirected },
  // Nothing is published here: test/unit/api/routes/bundles.test.ts has bundles.
  getBundlesChannelsByName: { needs: 'system', make: channel, statuses: [404] },
  postBundlesChannelsByName: {
    ...{ needs: 'system', make: channel, statuses: [404] },
    body: () => ({ tag: null, report: {} }),
  },
  postBundlesHealth: {
    ...{ needs: 'system' },
    body: () => ({ node: 'agent-1', site: 'far', changed: [], withdrawn: [] }),
  },
  postBundlesJournal: {
    ...{ needs: 'system' },
    body: () => {
      const run = '01234567-89ab-cdef-0123-456789abcdef'
      return { node: 'ams1', run, number: 1, at: 0, octets: '' }
    },
  },
  postBundlesCertificate: { needs: 'system', body: () => ({ report: {}, revision: 0 }) },
  postBundlesKeys: { needs: 'system', body: () => ({ report: {}, revision: 0 }) },
  getBundlesDeltasByDigestByFrom: {
    ...{ needs: 'system', statuses: [404] },
    make: async () => ({ digest: 'a'.repeat(64), from: 'b'.repeat(64) }),
  },
  getBundlesByDigest: { needs: 'system', make: digest, statuses: [404] },
  getDomains: { needs: 'domain:read' },
  postDomains: { needs: 'domain:write', body: newDomain },
  postDomainsByIdVerify: { needs: 'domain:write', make: domain },
  deleteDomainsById: { needs: 'domain:write', make: domain },
  getHistory: { needs: 'history:read' },
  getHistoryByCommit: { needs: 'history:read', make: commit },
  postHistoryByCommitRevert: { needs: 'history:write', make: commit },
  getPoolsByIdHistory: { needs: 'history:read', make: pool },
  // Tenants and answers: test/unit/questions/simulate/live.test.ts.
  postSimulate: { needs: 'service:read', body: () => ({ name: 'www.example.com.' }) },
  // Tenants and answers: test/unit/questions/past/past-answers.test.ts.
  postWhy: { needs: 'service:read', body: () => ({ name: 'www.example.com.', at: '5m' }) },
  // Pages and tenants: test/unit/api/routes/audit.test.ts.
  getAudit: { needs: 'user:read' },
  // What is counted: test/unit/api/routes/rum.test.ts.
  getRumNetworks: { needs: 'pool:read' },
  // What is counted: test/unit/answer/samples/client-regions.test.ts.
  getClientRegions: { needs: 'cluster:status', statuses: [404] },
  // What journals have: test/unit/why/health-history.test.ts.
  getPoolsByIdHealthHistory: { needs: 'pool:read', make: filledPool },
  // What databases have: test/unit/questions/simulate/client-of-country.test.ts.
  getSimulateClientsByCountry: { needs: 'service:read', statuses: [400, 404] },
  // Permissions of what is planned, and answers: test/unit/api/routes/plan.test.ts.
  postPlan: {
    needs: 'any',
    body: () => ({ requests: [{ method: 'PUT', path: '/api/v1/nothing' }] }),
    statuses: [404],
  },
  // Permissions of what is written: test/unit/api/routes/commits.test.ts.
  postCommits: {
    needs: 'any',
    body: () => ({ requests: [{ method: 'PUT', path: '/api/v1/nothing' }] }),
    statuses: [404],
  },
  getExplainByCode: { needs: 'any', statuses: [200, 404] },
  getLicense: { needs: 'license:read' },
  postLicense: { needs: 'license:write', body: () => ({ token: 'no.token' }), statuses: [400] },
  getUsage: { needs: 'usage:read_own' },
  getUnused: { needs: 'usage:read_own' },
  getRumJs: anyone,
  // Without a domain.
  getRumConfig: { ...anyone, statuses: [400] },
  postRumIngest: { ...anyone, body: measured, statuses: [200, 429] },
  getRumStatus: { needs: 'pool:read' },
  getWsToken: { needs: 'snapshot:read' },
  // Without a token.
  getWs: { ...anyone, statuses: [400] },
  getTenantsByIdUsage: { needs: 'system', make: tenant },
}
