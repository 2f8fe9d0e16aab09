// Defines the JSON of a record that was written at run time, of whichever type.
import { Type } from '#lib/schema/type.ts'
import { recordTypeOf } from '#compiler/values/record-sets.ts'
import type { HiddenBy, StoredRecord } from '#state/ports/dynamic-dns.ts'
import { nullable, unixSeconds, UnixSeconds } from '#http/shapes.ts'

export const WrittenRecord = Type.Object(
  {
    id: Type.String(),
    tenantId: Type.String(),
    name: Type.String({ description: 'In lower case, with the final dot' }),
    type: Type.String({ description: 'A, AAAA, CNAME, DHCID, PTR, SRV or TXT' }),
    value: Type.String({ description: 'Its data, as a zone file has it' }),
    ttl: Type.Integer({ description: 'Seconds' }),
    createdAt: UnixSeconds,
    writtenBy: Type.String({
      description:
        '`key:` and the name of a TSIG key, `kerberos:` and a principal, or who called the API; ' +
        'empty: unknown',
    }),
    hiddenBy: nullable(
      Type.String({
        description:
          'Why nobody gets it: `alias`, its name is an alias of the configuration; `declared`, ' +
          'the configuration says what records of this type the name has; `delegation`, other ' +
          'servers answer for it; `dname`, it is below a DNAME. null: it is answered',
      }),
    ),
  },
  { title: 'WrittenRecord' },
)

export function showWrittenRecord(
  { id, tenantId, name, type, rdata, ttlSeconds, createdAtMs, writtenBy }: StoredRecord,
  hiddenBy: HiddenBy | undefined,
) {
  const { name: typeName, print } = recordTypeOf(type)
  return {
    ...{ id, tenantId, name, type: typeName, value: print(Buffer.from(rdata, 'base64')) },
    ...{ ttl: ttlSeconds, createdAt: unixSeconds(createdAtMs), writtenBy },
    hiddenBy: hiddenBy ?? null,
  }
}
