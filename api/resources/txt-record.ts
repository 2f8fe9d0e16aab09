// Defines the JSON of a TXT record: its value is one text, however many strings it has on the wire.
import { Type } from '#lib/schema/type.ts'
import { dynamicDnsLimits } from '#state/ports/dynamic-dns.ts'
import type { HiddenBy, StoredRecord } from '#state/ports/dynamic-dns.ts'
import { closed, nullable, unixSeconds, UnixSeconds } from '#http/shapes.ts'

export const TxtRecord = Type.Object(
  {
    id: Type.String(),
    tenantId: Type.String(),
    name: Type.String({ description: 'In lower case, with the final dot' }),
    value: Type.String({
      description: 'Its strings one after the other; octets that are no UTF-8 are shown as U+FFFD',
    }),
    ttl: Type.Integer({ description: 'Seconds' }),
    createdAt: UnixSeconds,
    hiddenBy: nullable(
      Type.String({
        description:
          'Why nobody gets it: `alias`, its name is an alias by now; `delegation`, other servers ' +
          'answer for it; `dname`, it is below a DNAME. null: it is answered',
      }),
    ),
  },
  { title: 'TXT record' },
)

/** Octets of one character string: RFC 1035 section 3.3. */
const stringBytesMax = 255
/** The most that fits in `rdataBytesMax`, with a length octet before each string. */
export const valueBytesMax = 4_000

export const NewTxtRecord = closed({
  name: Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'Fully qualified; its first label may be `*`',
  }),
  value: Type.String({
    minLength: 1,
    maxLength: valueBytesMax,
    description: `At most ${valueBytesMax} octets in UTF-8; more than 255 become several strings`,
  }),
  ttl: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 2_147_483_647, default: 60, description: 'Seconds' }),
  ),
})

/** @returns undefined: the value is too long */
export function txtRdata(value: string): string | undefined {
  const octets = Buffer.from(value)
  const strings: Buffer[] = []
  for (let at = 0; at < octets.length; at += stringBytesMax) {
    const string = octets.subarray(at, at + stringBytesMax)
    strings.push(Buffer.from([string.length]), string)
  }
  const rdata = Buffer.concat(strings)
  const isTooLong = octets.length > valueBytesMax || rdata.length > dynamicDnsLimits.rdataBytesMax
  return isTooLong ? undefined : rdata.toString('base64')
}

export function showTxtRecord(
  { rdata, ttlSeconds, createdAtMs, ...record }: StoredRecord,
  hiddenBy: HiddenBy | undefined,
) {
  const { id, tenantId, name } = record
  const createdAt = unixSeconds(createdAtMs)
  return {
    id,
    tenantId,
    name,
    value: txtValue(rdata),
    ttl: ttlSeconds,
    createdAt,
    hiddenBy: hiddenBy ?? null,
  }
}

function txtValue(rdata: string): string {
  const octets = Buffer.from(rdata, 'base64')
  const strings: Buffer[] = []
  for (let at = 0; at < octets.length; at += 1 + octets[at]!) {
    strings.push(octets.subarray(at + 1, at + 1 + octets[at]!))
  }
  return Buffer.concat(strings).toString('utf8')
}
