// Names the ports and their types: a row lists those that its handler gets.
import type { HealthCheckPolicy } from '#compiler/values/health-check-policy.ts'
import type { ConfigHistory } from '#config/history.ts'
import type { ConfigView } from '#config/view.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import type { SendByChannel } from '#alerts/send-by-channel.ts'
import type { AuditCopy } from '#state/ports/audit.ts'
import type { AlertAdmin } from '#state/ports/alerts.ts'
import type { DynamicDnsAdmin, HiddenBy } from '#state/ports/dynamic-dns.ts'
import type { HealthSignals } from '#state/ports/health-signals.ts'
import type { LoginAttempts } from '#state/ports/login-attempts.ts'
import type { OidcNonces } from '#state/ports/oidc-nonces.ts'
import type { ResponseHitTotals } from '#state/ports/response-hits.ts'
import type { Roles } from '#state/ports/roles.ts'
import type { Sessions } from '#state/ports/sessions.ts'
import type { TenantKeys } from '#state/ports/tenant-keys.ts'
import type { Usage } from '#state/ports/usage.ts'
import type { Users } from '#state/ports/users.ts'
import type { Identities } from '#access/auth/identities.ts'
import type { OidcClient } from '#access/auth/oidc-client.ts'
import type { Passwords } from '#access/auth/passwords.ts'
import type { AuthPolicy } from '#access/auth/policy.ts'
import type { FeedPort, FeedTokenPort } from './feed-port.ts'
import type { LicenceGate } from '#licence/gate.ts'
import type { LicenceAdmin } from '#licence/licence-admin.ts'
import type { Bundles } from './bundles.ts'
import type { AcmeDns } from './acme-dns.ts'
import type { Certificates } from './certificates.ts'
import type { ZoneKeysAdmin } from './zone-keys.ts'
import type { CommitFates } from './commit-fates.ts'
import type { Deliveries } from './deliveries.ts'
import type { DomainChecks } from './domain-checks.ts'
import type { MemberHealthView } from './member-health.ts'
import type { AnycastView } from './anycast-view.ts'
import type { ClusterView } from './cluster-view.ts'
import type { DiscoveryView, NodeFacts, ZoneTransfers } from './node-facts.ts'
import type { NodeSettings } from './node-settings.ts'
import type { ZonePushView } from './zone-pushes.ts'
import type { UseView } from './object-use.ts'
import type { OperatorView } from './operator-view.ts'
import type { OverlayView } from './overlay-view.ts'
import type { RumView } from './rum-view.ts'
import type { Past } from './past.ts'
import type { Planner } from './planner.ts'
import type { Simulator } from './simulator.ts'
import type { TenantPlaces } from '#lib/sequence/tenant-places.ts'
import type { SourceBuckets } from '#access/admit/source-buckets.ts'
import type { Tenants } from '#access/tenants.ts'
import type { ConfigWriter } from '#config/operation.ts'

export interface ApiPorts {
  readonly view: OperatorView
  /** The accepted configuration in memory. */
  readonly config: ConfigView
  readonly configWriter: ConfigWriter
  /**
   * Makes the node look at its branch.
   *
   * @returns time of the request, milliseconds since the epoch
   */
  readonly syncNow: () => number
  /** Changes by commit. */
  readonly history: ConfigHistory
  /** When nodes activated commits, and which commits are held. */
  readonly commitFates: CommitFates
  /** Settings and keys of logins. */
  readonly auth: AuthPolicy
  /** Resolves users and tenant keys to callers; must be told to forget after a change of either. */
  readonly identities: Identities
  readonly passwords: Passwords
  /** null: there is no single sign-on. */
  readonly oidc: OidcClient | null
  readonly oidcNonces: OidcNonces
  readonly users: Users
  readonly roles: Roles
  readonly sessions: Sessions
  readonly loginAttempts: LoginAttempts
  readonly tenants: Tenants
  readonly tenantKeys: TenantKeys
  /** The copy of the audit log in the database. */
  readonly auditCopy: Pick<AuditCopy, 'query'>
  readonly licence: LicenceGate
  readonly licenceAdmin: LicenceAdmin
  /** Health checks that this node permits. */
  readonly checkPolicy: HealthCheckPolicy
  readonly memberHealth: MemberHealthView
  /** Receives the posts of outside monitors. */
  readonly healthSignals: HealthSignals
  /** False: health checks are off here, and with them what outside monitors say. */
  readonly goesBySignals: boolean
  /** TSIG keys and TXT records. A change is in force on this node when the call resolves. */
  readonly dynamicDns: DynamicDnsAdmin
  /** Why this node would not answer records of a name, which is absolute and in lower case. */
  readonly hiddenBy: (name: string, type: number) => HiddenBy | undefined
  /** Whether other tenants have TXT records at exactly this name. */
  readonly hasTextsOfOthers: (tenantId: string, name: string) => boolean
  readonly alerts: AlertAdmin
  /** Sends one message, and waits for the receiver. */
  readonly testAlert: SendByChannel
  /** Limits how often a client tests a channel. */
  readonly alertTests: SourceBuckets
  /** Limits how often a tenant requests checks of delegated domains. */
  readonly domainChecks: SourceBuckets
  /** Results of checks of delegated domains, and new checks. */
  readonly domains: DomainChecks
  readonly overlays: OverlayView
  readonly rum: RumView
  /** Limits how often a browser sends measurements. */
  readonly rumSources: SourceBuckets
  readonly simulator: Simulator
  readonly past: Past
  /** Limits how often a client simulates. */
  readonly simulationSources: SourceBuckets
  readonly planner: Planner
  /** Tenants with a plan under way. */
  readonly plansUnderWay: TenantPlaces
  /** Bundles for nodes that pull. */
  readonly bundles: Bundles
  /** Keys of signed zones. */
  readonly zoneKeys: ZoneKeysAdmin
  readonly acmeDns: AcmeDns
  /** Limits how often a client registers, and sets values. */
  readonly acmeDnsRegistrations: SourceBuckets
  readonly acmeDnsUpdates: SourceBuckets
  /** The certificate of an ACME server. */
  readonly certificates: Certificates
  readonly deliveries: Deliveries
  readonly usage: Usage
  readonly objectUse: UseView
  readonly responseHits: ResponseHitTotals
  readonly node: NodeFacts
  readonly nodeSettings: NodeSettings
  readonly cluster: ClusterView
  readonly anycast: AnycastView
  readonly discovery: DiscoveryView
  readonly zoneTransfers: ZoneTransfers
  readonly zonePushes: ZonePushView
  /** Target of `/` for people, who come from a login: the reference, or the dashboard. */
  readonly homePath: string
  readonly feed: FeedPort
  readonly feedTokens: FeedTokenPort
  readonly clock: Clock
  readonly log: Log
}

export type PortName = keyof ApiPorts

/** The ports of these names: `Ports<'users' | 'clock'>`. */
export type Ports<Name extends PortName> = Pick<ApiPorts, Name>
