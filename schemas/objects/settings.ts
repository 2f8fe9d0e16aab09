// The settings of the whole repository: zones, defaults for names outside them, routing,
// guardrails.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { Guardrails } from './guardrails.ts'
import { routingSettings } from './routing-settings.ts'
import { Nameservers, NsTtl, Soa, Zone } from './zone.ts'

export const SettingsDefaults = Type.Object(
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
export type SettingsDefaults = Static<typeof SettingsDefaults>

export const SettingsSpec = Type.Object(
  {
    defaults: Type.Optional(SettingsDefaults),
    zones: Type.Array(Zone, { default: [], description: 'The declared zones.' }),
    names: Type.Optional(
      Type.Union([Type.Literal('first-come'), Type.Literal('owned')], {
        description:
          'Which names a tenant may take that nobody has: `first-come`, those with nothing of ' +
          'another tenant at, above or below them; `owned`, none outside of its delegated ' +
          'domains and of the zones whose `tenants` name it. Without it: `first-come`.',
      }),
    ),
    ...routingSettings,
    guardrails: Type.Optional(Guardrails),
  },
  { additionalProperties: false, description: 'What holds for the whole repository.' },
)
export type SettingsSpec = Static<typeof SettingsSpec>
