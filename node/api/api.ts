// Composes the API of a node: stores, keys, policy, server.
import { Identities } from '#access/auth/identities.ts'
import { createOidcClient } from '#access/auth/oidc-client.ts'
import type { OidcClient } from '#access/auth/oidc-client.ts'
import { setupCodeOf } from '#access/auth/first-setup.ts'
import { Passwords } from '#access/auth/passwords.ts'
import { systemKey } from '#access/auth/policy.ts'
import { createConfigTenants } from '#api/config/tenants.ts'
import { apiLimits } from '#http/limits.ts'
import type { NodeFacts } from '#ports/node-facts.ts'
import type { ServerPorts } from '#api/server/app.ts'
import { createApiServer } from '#api/server/server.ts'
import { createExternalDnsServer } from '#external-dns/server.ts'
import { shippedDashboard } from '#api/server/web-dashboard.ts'
import type { HttpServer } from '#api/server/listening.ts'
import type { ServerTls } from '#api/server/server-tls.ts'
import { TenantPlaces } from '#lib/sequence/tenant-places.ts'
import { SourceBuckets } from '#access/admit/source-buckets.ts'
import { referencePath } from '#api/routes/reference.ts'
import { systemClock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { systemAfter } from '#lib/timer.ts'
import type { EphemeralState } from '#state/ephemeral.ts'
import { checkPolicyOfNode } from '#settings/check-policy.ts'
import type { Io } from '#system/process/command.ts'
import type { ProcessLog } from '#process/log.ts'
import { createNodeAudit } from './audit.ts'
import { createNodeFeed } from './feed.ts'
import { createNodeLicence } from '#node/compose/licence.ts'
import type { NodeLicence, NodeLicenceParts } from '#node/compose/licence.ts'
import { readSecrets, weakKey } from '#process/data/secrets.ts'
import type { NodeSecrets } from '#process/data/secrets.ts'
import type { NodeRecords } from '#node/stores/records.ts'
import { faultOfDashboard } from '#node/compose/start-checks.ts'
import type { LivePlanner } from '#questions/plan/live-plan.ts'
import type { JudgingWriter } from '#questions/plan/judging-writer.ts'
import type { LiveSimulator } from '#questions/simulate/live.ts'
import type { PastAnswers } from '#questions/past/past-answers.ts'
import { explanationOf } from './explanations.ts'
import { SecretKeyCheck } from '#node/compose/secret-key-check.ts'
import { SetupWatch } from './setup-watch.ts'
import type { OidcSection } from '#settings/sections/oidc.ts'
import type { Settings } from '#settings/settings.ts'

type PassedPort =
  | ('view' | 'config' | 'history' | 'syncNow' | 'memberHealth' | 'overlays' | 'rum' | 'discovery')
  | ('dynamicDns' | 'hiddenBy' | 'hasTextsOfOthers' | 'acmeDns' | 'domains' | 'zoneKeys')
  | ('cluster' | 'anycast' | 'zoneTransfers' | 'zonePushes' | 'nodeSettings' | 'certificates')
  | ('bundles' | 'deliveries' | 'testAlert' | 'requestCounts' | 'requestTimes')

export interface NodeApiParts {
  readonly settings: Settings
  readonly log: ProcessLog
  /** What routes get as it is. */
  readonly passed: Pick<ServerPorts, PassedPort>
  readonly planner: LivePlanner
  readonly configWriter: JudgingWriter
  readonly shared: EphemeralState
  readonly records: Pick<NodeRecords, 'state' | 'countCall' | 'responseHits' | 'commits'>
  readonly useGaps: ServerPorts['objectUse']['gaps']
  /** null: it speaks plain HTTP. */
  readonly tls: ServerTls | null
  readonly simulator: LiveSimulator
  readonly past: PastAnswers
  readonly clientRegions: NodeFacts['clientRegions']
  readonly env: Io['env']
  /** Called with the DNS queries a second that the licence permits; 0: no limit. */
  readonly onRate: (perSecond: number) => void
  readonly onAgents: NodeLicenceParts['onAgents']
  /** null: health checks are off. */
  readonly health: NodeLicenceParts['health']
}

export interface NodeApi {
  /** Checks the stores, then listens. Errors: a sentence for the operator. */
  readonly listen: HttpServer['listen']
  readonly server: HttpServer['server']
  /** Listens after the API does; null: it is off. */
  readonly externalDns: HttpServer | null
  readonly licence: NodeLicence
  /** How many clients are connected to the feed. */
  readonly feedClients: () => number
  /** false: the audit log cannot be written, so its lines go to the main log. */
  readonly isAudited: () => boolean
  /** True until the first account is made: anybody who reaches the API may make it. */
  readonly isSetupOpen: () => boolean
  readonly close: () => Promise<void>
}

/**
 * How long a stop waits for a database that is being made: that takes 4 s of CPU, and half a minute
 * on a busy machine.
 */
const databasePatienceMs = 5_000

/** Errors: a sentence for the operator. */
export function createNodeApi(parts: NodeApiParts): Result<NodeApi, string> {
  const { settings, log, env } = parts
  const secrets = readSecrets(env)
  if (!secrets.ok) return secrets
  const weakness = weakKey(secrets.value)
  if (weakness !== undefined) log.warn({}, weakness)
  const fault = faultOfDashboard(settings, secrets.value)
  if (fault !== undefined) return err(fault)
  const { onRate, onAgents, health, records } = parts
  const { state } = records
  const audit = auditOf(parts, secrets.value)
  if (!audit.ok) return audit
  const licence = createNodeLicence({
    settings: settings.license,
    env,
    state,
    config: parts.passed.config,
    health,
    clock: systemClock,
    ...{ log, onRate, onAgents },
  })
  if (!licence.ok) return licence
  const { keeper } = licence.value
  const setup = new SetupWatch({
    ...{ users: state.persistent.users, log, after: systemAfter },
    isGuarded: settings.auth.setupEndpoint && secrets.value.apiKey !== null,
  })
  const own = portsOf(parts, secrets.value, audit.value, setup.code)
  const ports = { ...own, licence: keeper, licenceAdmin: keeper }
  const { listenAddr, port, trustedProxies, allowDevMode, webuiPath, statusPage } = settings.api
  const { secretKey } = secrets.value
  const secretKeyCheck = new SecretKeyCheck({ state, secretKey, log, after: systemAfter })
  const server = createApiServer({
    ...{ ports, log, listenAddr, port, trustedProxies, allowDevMode },
    dashboardDirectory: webuiPath ?? shippedDashboard(),
    ...{ statusPage, tls: parts.tls },
  })
  const externalDns = externalDnsOf(settings, ports)
  return ok({
    licence: licence.value,
    feedClients: ports.node.webSocketClients,
    isAudited: audit.value.isWritten,
    isSetupOpen: setup.isOpen,
    ...{ server: server.server, externalDns },
    listen: async (handed) => {
      const checked = await secretKeyCheck.atStart()
      if (!checked.ok) return checked
      // A database on another server is not waited for: each request finds out whether it is there.
      const begun = settings.database.url === '' ? state.begin() : undefined
      // An existing database is opened before the API listens, which takes a second. A new one
      // takes seconds to make: requests get 503 meanwhile.
      if (state.exists()) await begun
      void setup.look()
      return server.listen(handed)
    },
    close: async () => {
      secretKeyCheck.close()
      setup.close()
      // Requests and the audit copy wait for a database that is being made.
      const patience = setTimeout(() => state.callOff(), databasePatienceMs)
      await Promise.all([externalDns?.close(), server.close()])
      await parts.simulator.close()
      await parts.past.close()
      await parts.planner.close()
      await parts.configWriter.close()
      await audit.value.close()
      clearTimeout(patience)
    },
  })
}

const externalDnsOf = ({ externalDns }: Settings, ports: ServerPorts): HttpServer | null =>
  externalDns.enabled ? createExternalDnsServer({ ...externalDns, ports }) : null

function auditOf({ settings, log, records }: NodeApiParts, { auditLog }: NodeSecrets) {
  const { audit } = records.state.persistent
  return createNodeAudit(auditLog, audit, log, settings.logging.pseudonymous)
}

const keyOf = (text: string | null) => (text === null ? null : systemKey(text))

function portsOf(
  parts: NodeApiParts,
  { apiKey, bundleToken, metricsToken, webhookSecret, secretKey }: NodeSecrets,
  audit: ServerPorts['audit'],
  setupCode: string,
): Omit<ServerPorts, 'licence' | 'licenceAdmin'> {
  const { settings, log, passed, configWriter, records, simulator } = parts
  const { config, memberHealth, overlays } = passed
  const { users, roles, tenantKeys, usage, objectUses, alerts } = records.state.atOnce
  const { sessions, loginAttempts, nonces, webSocketTokens, healthSignals } = parts.shared
  const { sessionTTLMs, sessionExtend, bcryptCost, setupEndpoint } = settings.auth
  return {
    ...passed,
    ...{ configWriter, commitFates: records.commits },
    auth: {
      systemKey: keyOf(apiKey),
      bundleToken: keyOf(bundleToken),
      metricsToken: keyOf(metricsToken),
      webhookSecret,
      secretKey,
      sessionTtlMs: sessionTTLMs,
      sessionExtend,
      bcryptCost,
      setupEndpoint,
      setupCode: setupCodeOf(setupCode),
    },
    identities: new Identities({ users, roles, tenantKeys, clock: systemClock }),
    passwords: new Passwords(bcryptCost),
    oidc: oidcOf(settings.auth.oidc),
    oidcNonces: nonces,
    users,
    roles,
    sessions,
    loginAttempts,
    tenants: createConfigTenants(config, configWriter, systemClock),
    tenantKeys,
    ...{ audit, auditCopy: records.state.atOnce.audit },
    checkPolicy: checkPolicyOfNode(settings.health),
    ...{ healthSignals, goesBySignals: settings.health.enabled, alerts, usage },
    ...bucketsOf(systemClock),
    simulator: {
      ...{ simulate: simulator.simulate, clientOf: simulator.clientOf, explain: explanationOf },
    },
    ...{ past: parts.past, planner: parts.planner, plansUnderWay: new TenantPlaces(1) },
    objectUse: { read: objectUses.read, gaps: parts.useGaps },
    ...{ responseHits: records.responseHits, countCall: records.countCall },
    homePath: referencePath,
    ...createNodeFeed({
      ...{ config, memberHealth, overlays, apiKey, secretKey, webSocketTokens, log },
      clientsMax: settings.api.maxWebSocketClients,
      clientRegions: parts.clientRegions,
    }),
    clock: systemClock,
    log,
  }
}

/** Limits on how often something may be requested. */
function bucketsOf(clock: typeof systemClock) {
  return {
    alertTests: new SourceBuckets(apiLimits.alertTests, clock),
    domainChecks: new SourceBuckets(apiLimits.domainChecks, clock),
    simulationSources: new SourceBuckets(apiLimits.simulations, clock),
    rumSources: new SourceBuckets(apiLimits.rum, clock),
    acmeDnsRegistrations: new SourceBuckets(apiLimits.acmeDnsRegistrations, clock),
    acmeDnsUpdates: new SourceBuckets(apiLimits.acmeDnsUpdates, clock),
  }
}

/** The client for single sign-on; null: it is off. */
export function oidcOf(section: OidcSection): OidcClient | null {
  if (!section.enabled) return null
  // The settings file was refused without these values (`missingForOidc`).
  const { discoveryUrl = '', clientId = '', clientSecret = '', redirectUri = '' } = section
  const named = { discoveryUrl, clientId, clientSecret, redirectUri }
  return createOidcClient({ ...section, ...named }, systemClock)
}
