// Static records of one zone: rrsets by name and type.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'

/** About what fits into a file of 1 MiB. */
export const recordsPerFileMax = 10_000
export const valuesPerRrsetMax = 4_096
/** Greatest TTL of RFC 2181 section 8. */
const ttlMax = 2_147_483_647
export const recordTtlDefault = 3_600

export const RecordSet = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 1_100,
      description:
        'Name as in a zone file: relative to the zone (`www`), `@` for the zone itself, or whole ' +
        'with its final dot. The first label may be `*`.',
    }),
    type: Type.String({
      minLength: 1,
      maxLength: 16,
      description:
        'Type such as `A`, `MX`, `TXT`; `ALIAS` for the addresses of another name, which each ' +
        'node looks up; `TYPE65280` for one without a name of its own.',
    }),
    ttl: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: ttlMax,
        description: 'TTL in seconds. Without it: that of the file.',
      }),
    ),
    values: Type.Array(Type.String({ minLength: 1, maxLength: 327_680 }), {
      minItems: 1,
      maxItems: valuesPerRrsetMax,
      description:
        'The data of each record, as in a zone file; names without a final dot are relative to ' +
        'the zone. Text has quotes of its own: `\'"v=spf1 -all"\'`.',
    }),
  },
  { additionalProperties: false, description: 'The records of one name and type.' },
)
export type RecordSet = Static<typeof RecordSet>

const seconds = Type.Integer({ minimum: 0, maximum: 4_294_967_295 })

const Transfer = Type.Object(
  {
    soa: Type.Optional(
      Type.Object(
        { serial: seconds, refresh: seconds, retry: seconds, expire: seconds },
        {
          additionalProperties: false,
          description:
            'Serial and timers of the zone on its primary server. One file of the zone has them.',
        },
      ),
    ),
    digest: Type.Optional(
      Type.String({
        maxLength: 64,
        description:
          'Digest of the record sets of all files of the zone, as they came with the serial. ' +
          'Where it is another one, people have written them: the zone is transferred whole.',
      }),
    ),
    expired: Type.Optional(
      Type.Boolean({
        description:
          'No primary server has answered for as long as the zone may be used. Its records are ' +
          'not answered: where nothing else is there, the answer is SERVFAIL. It counts as long ' +
          'as the zone has `from`.',
      }),
    ),
  },
  {
    additionalProperties: false,
    description:
      'These records came by zone transfer (`zones[].from` of gslb.yaml), and nodes write them. ' +
      'They give way to services and other records of the same name, also once the zone has no ' +
      '`from` any more and people write them. Without it: people do.',
  },
)
export type Transfer = Static<typeof Transfer>

export const RecordsSpec = Type.Object(
  {
    zone: Type.String({
      minLength: 1,
      maxLength: 1_100,
      description: 'A zone that gslb.yaml declares, with its final dot.',
    }),
    ttl: Type.Integer({
      minimum: 0,
      maximum: ttlMax,
      default: recordTtlDefault,
      description: 'TTL in seconds of records that have none of their own.',
    }),
    records: Type.Array(RecordSet, {
      maxItems: recordsPerFileMax,
      description: 'Each name and type once, over all files.',
    }),
    transfer: Type.Optional(Transfer),
  },
  {
    additionalProperties: false,
    description: 'Static records of one zone. A zone may have any number of such files.',
  },
)
export type RecordsSpec = Static<typeof RecordsSpec>
