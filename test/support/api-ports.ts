// Ports for tests of the API: a call that a test did not provide fails loudly.
import type { Clock } from '#lib/clock.ts'
import { createAcmeDns } from '#integrations/acme/acme-dns.ts'
import type { AcmeDnsStore } from '#state/ports/acme-dns.ts'
import type { DynamicDns } from '#zones/dynamic/dynamic-dns.ts'
import { Identities } from '#access/auth/identities.ts'
import { Passwords } from '#access/auth/passwords.ts'
import type { AuthPolicy } from '#access/auth/policy.ts'
import { Feed } from '#feed/feed.ts'
import { FeedTokens } from '#feed/tokens.ts'
import { everythingLicensed } from './everything-licensed.ts'
import { unprobed } from '#ports/member-health.ts'
import type { MemberHealthView } from '#ports/member-health.ts'
import { RequestCounts } from '#http/request-counts.ts'
import type { OperatorView } from '#ports/operator-view.ts'
import type { ServerPorts } from '#api/server/app.ts'
import { apiLimits } from '#http/limits.ts'
import type { OverlayView } from '#ports/overlay-view.ts'
import type { RumView } from '#ports/rum-view.ts'
import { referencePath } from '#api/routes/reference.ts'
import { TenantPlaces } from '#lib/sequence/tenant-places.ts'
import { SourceBuckets } from '#access/admit/source-buckets.ts'
import { strictPolicy } from '#compiler/values/health-check-policy.ts'
import { systemClock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import { systemAfter } from '#lib/timer.ts'
import { createMemoryHealthSignals } from '#state/memory/health-signals.ts'
import { createMemoryWebSocketTokens } from '#state/memory/websocket-tokens.ts'
import { portOf } from './port-of.ts'
import type { Session, Sessions } from '#state/ports/sessions.ts'
import type { User } from '#state/ports/users.ts'
import { newUser } from './store-values.ts'

/** Dev mode with defaults. */
export const devMode: AuthPolicy = {
  systemKey: null,
  secretKey: null,
  sessionTtlMs: 24 * 3_600_000,
  sessionExtend: true,
  bcryptCost: 10,
  setupEndpoint: true,
}

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} }

/** An operator of acme, with a valid session. */
export const anyUser: User = {
  ...newUser('u1', { displayName: 'Ann', tenantId: 'acme', role: 'operator' }),
  ...{ totp: null, oidcIdentity: null, updatedAtMs: 1_000 },
}
export const anySession: Session = {
  ...{ userId: anyUser.id, tenantId: anyUser.tenantId, role: anyUser.role },
  ...{ createdAtMs: 0, expiresAtMs: Number.MAX_SAFE_INTEGER },
}

/** No sessions. */
export const noSessions: Sessions = portOf('sessions', { find: async () => ok(null) })

export const plainView: OperatorView = {
  health: () => ({ status: 'ok', reasons: [] }),
  unready: () => [],
  gitops: () => portOf<OperatorView>('view').gitops(),
  metrics: async () => ({ type: 'text/plain', text: 'gslbd_up 1\n' }),
}

/** The acme-dns endpoint is off. */
const noAcmeDns = (clock: Clock) => ({
  acmeDns: createAcmeDns({
    settings: { domain: '', registerFrom: [], tenant: 'default', maxKeys: 10 },
    store: portOf<AcmeDnsStore>('acmeDns', {
      ...{ list: async () => ok([]), find: async () => ok(null) },
    }),
    dynamicDns: portOf<DynamicDns>('dynamicDns'),
    clock,
  }),
  acmeDnsRegistrations: new SourceBuckets(apiLimits.acmeDnsRegistrations, clock),
  acmeDnsUpdates: new SourceBuckets(apiLimits.acmeDnsUpdates, clock),
})

export function portsOf(brought: Partial<ServerPorts>): ServerPorts {
  const stores = {
    users: brought.users ?? portOf('users'),
    roles: brought.roles ?? portOf('roles'),
    tenantKeys: brought.tenantKeys ?? portOf('tenantKeys'),
    clock: brought.clock ?? systemClock,
  }
  return {
    view: plainView,
    config: { ...portOf<ServerPorts['config']>('config'), isReady: () => true },
    configWriter: portOf('configWriter'),
    syncNow: () => 0,
    history: portOf('history'),
    commitFates: { activationsOf: async () => [], heldCommits: async () => [] },
    auth: devMode,
    identities: new Identities(stores),
    sessions: portOf('sessions'),
    loginAttempts: portOf('loginAttempts'),
    tenants: portOf('tenants'),
    audit: { write: () => {} },
    auditCopy: portOf('auditCopy'),
    passwords: new Passwords(4),
    oidc: null,
    oidcNonces: portOf('oidcNonces'),
    licence: everythingLicensed,
    licenceAdmin: portOf('licenceAdmin'),
    checkPolicy: strictPolicy,
    memberHealth: unprobedMembers,
    ...{ healthSignals: createMemoryHealthSignals(stores.clock), goesBySignals: true },
    dynamicDns: portOf('dynamicDns'),
    ...{ hiddenBy: () => undefined, hasTextsOfOthers: () => false },
    alerts: portOf('alerts'),
    testAlert: async () => ({ ok: true }),
    alertTests: new SourceBuckets(apiLimits.alertTests, stores.clock),
    domainChecks: new SourceBuckets(apiLimits.domainChecks, stores.clock),
    overlays: unseenOverlays,
    domains: portOf('domains'),
    rum: unmeasured,
    homePath: referencePath,
    simulator: portOf('simulator'),
    past: portOf('past'),
    simulationSources: new SourceBuckets(apiLimits.simulations, stores.clock),
    planner: portOf('planner'),
    plansUnderWay: new TenantPlaces(1),
    rumSources: new SourceBuckets(apiLimits.rum, stores.clock),
    ...{ bundles: noBundles, zoneKeys: { ...portOf('zoneKeys'), list: () => [] } },
    deliveries: { list: () => [], act: async () => err({ code: 'unknown', message: '' }) },
    usage: { add: async () => ok(undefined), range: async () => ok([]) },
    objectUse: {
      read: async () => ok({ nodes: [], objects: new Map(), changes: new Map() }),
      gaps: () => ({ names: '', redirects: '' }),
    },
    ...{ responseHits: async () => new Map(), countCall: () => undefined },
    zoneTransfers: { list: () => [], accept: async () => undefined },
    ...{ requestCounts: new RequestCounts(), requestTimes: { ended: () => undefined } },
    node: { uptimeSeconds: () => 1.5, webSocketClients: () => 0, clientRegions: () => null },
    ...{ nodeSettings: { list: () => [] }, discovery: { sources: () => [], accept: () => 0 } },
    ...{ anycast: { status: () => null }, certificates: { view: () => [] } },
    ...{ ...noAcmeDns(stores.clock), log: silentLog, zonePushes: noPushes },
    cluster: { nodes: async () => [], restart: async () => ok(null) },
    feed: feedOf(brought),
    feedTokens: new FeedTokens(
      Buffer.alloc(32, 9),
      createMemoryWebSocketTokens(stores.clock),
      stores.clock,
    ),
    ...stores,
    ...brought,
  }
}

const noPushes: ServerPorts['zonePushes'] = {
  ...{ list: () => [], plan: async () => null, ask: async () => null },
}

const noBundles: ServerPorts['bundles'] = {
  takeReport: () => ok({ name: 'far-1', labels: {} }),
  heard: async () => ok({ instance: 'ab' }),
  journal: async () => ok({ bytes: 0 }),
  ...{ keys: () => ok(null), certificate: () => ok(null) },
  record: () => undefined,
  shadowFor: () => '',
  waitForOther: async () => true,
  open: () => undefined,
  openPacked: async () => undefined,
  delta: async () => undefined,
}

/** No regressions. */
export const unseenOverlays: OverlayView = {
  trip: () => null,
  baselineRttMs: () => null,
  onRegression: () => () => undefined,
}

const unmeasured: RumView = {
  targets: () => [],
  ingest: () => 0,
  coverage: () => ({ subnets: 0, measurements: 0, subnetsByMember: new Map() }),
  reports: () => new Map(),
}

const unprobedMembers: MemberHealthView = {
  node: 'test',
  of: () => unprobed('test'),
  onChange: () => () => undefined,
}

function feedOf({ config, memberHealth, overlays, clock }: Partial<ServerPorts>): Feed {
  return new Feed({
    config: config ?? portOf('config'),
    memberHealth: memberHealth ?? unprobedMembers,
    overlays: overlays ?? unseenOverlays,
    stats: () => () => ({}),
    clientsMax: 10,
    clock: clock ?? systemClock,
    after: systemAfter,
    defer: setImmediate,
    log: silentLog,
  })
}
