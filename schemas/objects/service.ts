// A service: a DNS name, the pool that answers for it, and how a member is chosen.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { choice } from '#schemas/forms/annotations.ts'
import { onAllDownPattern } from '#lib/text/patterns.ts'

/** Every accepted spelling; `routing/choose/ways.ts` resolves the aliases. */
export const algorithms = [
  'round-robin',
  'weighted-round-robin',
  'wrr',
  'weighted_rr',
  'failover',
  'geo-ip',
  'geoip',
  'map-file',
  'mapfile',
  'asn',
  'latency',
] as const

/** A test compares these with the limits of the bundle format. */
export const filtersPerChainMax = 16
export const answerCountMax = 16
/** UTF-16 units of one chain entry, which may be a whole script. */
export const filterLengthMax = 65_536

export const ServiceSpec = Type.Object(
  {
    domain: Type.String({
      minLength: 1,
      maxLength: 1_100,
      description:
        'Fully-qualified name with its trailing dot; unique across all tenants, whatever its ' +
        'case. The first label may be `*`.',
    }),
    algorithm: choice([...algorithms, ''], {
      description:
        'How one healthy member is chosen. `wrr` and `weighted_rr` mean `weighted-round-robin`, ' +
        '`geoip` means `geo-ip`, `mapfile` means `map-file`. May be empty beside a `filterChain`.',
      default: 'round-robin',
    }),
    ttl: Type.Integer({
      minimum: 0,
      maximum: 2_147_483_647,
      default: 60,
      description: 'TTL of the answers in seconds.',
    }),
    pool: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      minLength: 1,
      default: null,
      description: 'Name of a pool of the same tenant; null: the name exists and has no records.',
    }),
    filterChain: Type.Array(Type.String({ minLength: 1, maxLength: filterLengthMax }), {
      maxItems: filtersPerChainMax,
      default: [],
      description:
        'Filters that narrow and order the members one after the other, instead of the ' +
        'algorithm: `geo-ip`, `asn`, `map-file`, `sticky`, `sticky-weighted`, `signal-weight`, ' +
        '`round-robin`, `weighted-round-robin`, `failover`, `latency`, `rum`, `script:BODY`. ' +
        'Where none of them selects, the first member left is the answer. ' +
        '[More](../routing.md#filters).',
    }),
    onAllDown: Type.String({
      maxLength: 260,
      pattern: onAllDownPattern,
      default: 'empty',
      description:
        'What is answered when no member is healthy, or fewer than `minHealthy`: `empty` no ' +
        'records, `all` every enabled member whatever its health, `pool:NAME` the members of another pool of the same tenant.',
    }),
    weakSpots: Type.Boolean({
      default: true,
      description:
        'Whether `gslbd check` tells what one failure would do to the name; answers do not ' +
        'depend on it. [More](../operations/weak-spots.md).',
    }),
    answerCount: Type.Integer({
      minimum: 1,
      maximum: answerCountMax,
      default: 1,
      description: 'Addresses in one reply, at most.',
    }),
  },
  { additionalProperties: false, description: 'A name and the pool that answers for it.' },
)
export type ServiceSpec = Static<typeof ServiceSpec>
