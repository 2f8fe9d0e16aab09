// The settings of the whole repository: zones, defaults for names outside them, routing,
// guardrails.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { textPattern } from '#lib/text/patterns.ts'
import { Guardrails } from './guardrails.ts'
import { Uid } from './metadata.ts'
import { routingSettings } from './routing-settings.ts'
import { Nameservers, NsTtl, Soa, Zone } from './zone.ts'

/** What a person may look for here, and each node has in its own gslbd.yaml. */
export const nodeSettings: ReadonlySet<string> = new Set([
  ...['dataDir', 'roles', 'dns', 'bundle', 'node', 'api', 'acme', 'acmeDns', 'auth', 'database'],
  ...['redis', 'backup', 'journal', 'alerts', 'anycast', 'gitops', 'domains', 'externalDns'],
  ...['discovery', 'license', 'queryLog', 'redirect', 'telemetry', 'zonePush', 'health', 'state'],
  ...['geoip.dbPath', 'geoip.countClients', 'asn.dbPath', 'latency.geoipDBPath', 'logging'],
])

const SettingsDefaults = Type.Object(
  {
    nameservers: Nameservers,
    nsTtl: NsTtl('that of the SOA record'),
    soa: Type.Optional(Soa),
  },
  {
    additionalProperties: false,
    description: 'For names outside every declared zone, and for what a zone leaves out.',
  },
)
type SettingsDefaults = Static<typeof SettingsDefaults>

export const ExemptNetwork = Type.Object(
  {
    cidr: Type.String({
      minLength: 1,
      maxLength: 49,
      description: 'IPv4 or IPv6 network of clients, such as 192.0.2.0/24; other bits are zero.',
    }),
    comment: Type.Optional(
      Type.String({ maxLength: 255, pattern: textPattern, description: 'Whose it is, and why.' }),
    ),
    uid: Type.Optional(Uid),
  },
  { additionalProperties: false, description: 'A network that is not limited by `dns.rrl`.' },
)
export type ExemptNetwork = Static<typeof ExemptNetwork>

export const SettingsSpec = Type.Object(
  {
    defaults: Type.Optional(SettingsDefaults),
    zones: Type.Array(Zone, { default: [], description: 'The declared zones.' }),
    names: Type.Optional(
      Type.Enum(['first-come', 'owned'], {
        description:
          'Which names a tenant may take that nobody has: `first-come`, those with nothing of ' +
          'another tenant at, above or below them; `owned`, none outside of its delegated ' +
          'domains and of the zones whose `tenants` name it. Without it: `first-come`.',
      }),
    ),
    ...routingSettings,
    rateLimitExempt: Type.Optional(
      Type.Array(ExemptNetwork, {
        maxItems: 1_000,
        description: 'Networks of clients that no node limits; a node may have more of its own.',
      }),
    ),
    guardrails: Type.Optional(Guardrails),
  },
  { additionalProperties: false, description: 'What holds for the whole repository.' },
)
export type SettingsSpec = Static<typeof SettingsSpec>
