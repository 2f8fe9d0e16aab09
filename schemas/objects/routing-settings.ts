// The routing settings of the repository: endpoint locations, ASN and map rules, signals, latency.
import { Type } from '#lib/schema/type.ts'
import type { Static, TSchema } from '#lib/schema/type.ts'
import { textPattern } from '#lib/text/patterns.ts'

/** More than fits into a file of 1 MiB. */
const mapRulesMax = 40_000
/** Bounded, since each rule is compared with every organisation of the database at load. */
export const asnRulesMax = 10_000

const Cidr = Type.String({
  minLength: 1,
  description: 'IPv4 or IPv6 network of clients, such as 192.0.2.0/24; other bits are zero.',
})
const Endpoint = Type.String({ minLength: 1, maxLength: 45, description: 'Address of a member.' })

const MapRule = Type.Object(
  { cidr: Cidr, endpoint: Endpoint },
  { additionalProperties: false, description: 'Sends the clients of one network to one member.' },
)
type MapRule = Static<typeof MapRule>

const MapFile = Type.Object(
  {
    rules: Type.Array(MapRule, {
      maxItems: mapRulesMax,
      default: [],
      description: 'The first rule whose member can be answered wins; the order matters.',
    }),
  },
  { additionalProperties: false, description: 'For the algorithm and the filter `map-file`.' },
)

const AsnRule = Type.Object(
  {
    asn: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 4_294_967_295,
        description: 'Number of the autonomous system.',
      }),
    ),
    org: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        pattern: textPattern,
        description: "Part of the organisation's name, whatever its case.",
      }),
    ),
    endpoint: Endpoint,
  },
  {
    additionalProperties: false,
    description: 'Sends the clients of a network operator to one member. Needs `asn` or `org`.',
  },
)
type AsnRule = Static<typeof AsnRule>

const Asn = Type.Object(
  {
    rules: Type.Array(AsnRule, {
      maxItems: asnRulesMax,
      default: [],
      description: 'The first rule whose member can be answered wins; the order matters.',
    }),
  },
  { additionalProperties: false, description: 'For the algorithm and the filter `asn`.' },
)

export const Location = Type.Object(
  {
    lat: Type.Number({ minimum: -90, maximum: 90, description: 'Degrees; north is positive.' }),
    lon: Type.Number({ minimum: -180, maximum: 180, description: 'Degrees; east is positive.' }),
  },
  { additionalProperties: false, description: 'A place on the globe.' },
)
export type Location = Static<typeof Location>

const GeoIp = Type.Object(
  {
    endpointLocations: mapOf(Location, 'Where each member stands, by its address.'),
  },
  { additionalProperties: false, description: 'For the algorithm `geo-ip`.' },
)

const Signals = Type.Object(
  {
    static: mapOf(
      Type.Number({ minimum: -1e12, maximum: 1e12 }),
      'Signal of each region, such as its load; the lower the better. Quote the regions.',
    ),
    weight: Type.Number({
      minimum: 0,
      maximum: 1,
      default: 0.5,
      description: 'Share of the signal in the score; 0: none.',
    }),
  },
  { additionalProperties: false, description: 'For the filter `signal-weight`.' },
)

const Latency = Type.Object(
  {
    regionBonusMultiplier: Type.Number({
      minimum: 0,
      maximum: 1_000_000,
      default: 1,
      description: "Bonus of the members in the client's region; 0: none.",
    }),
    minRTTThresholdMs: Type.Integer({
      minimum: 0,
      maximum: 60_000,
      default: 5,
      description: 'A round trip time changes when it differs by at least this many milliseconds.',
    }),
    fallbackRegion: Type.String({
      minLength: 1,
      maxLength: 64,
      pattern: textPattern,
      default: 'unknown',
      description: 'Region of a client that no database knows: such as DE, US-CA or continent:EU.',
    }),
  },
  { additionalProperties: false, description: 'For the algorithm `latency`.' },
)

/** As fields of the repository's settings. */
export const routingSettings = {
  mapFile: Type.Optional(MapFile),
  asn: Type.Optional(Asn),
  geoip: Type.Optional(GeoIp),
  signals: Type.Optional(Signals),
  latency: Type.Optional(Latency),
} as const

/** A mapping with free keys. */
function mapOf<Value extends TSchema>(value: Value, description: string) {
  return Type.Unsafe<Record<string, Static<Value>>>({
    type: 'object',
    additionalProperties: value,
    default: {},
    description,
  })
}
