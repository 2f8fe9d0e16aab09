// Defines the JSON of a TSIG key; its secret is shown once.
import { Type } from '#lib/schema/type.ts'
import { tsigAlgorithmNames } from '#state/ports/dynamic-dns.ts'
import type { StoredTsigKey } from '#state/ports/dynamic-dns.ts'
import { closed, nullable, unixSeconds, UnixSeconds } from '#http/shapes.ts'

const fields = {
  id: Type.String(),
  tenantId: Type.String(),
  name: Type.String({ description: 'In lower case, with the final dot' }),
  algorithm: Type.String(),
  scope: nullable(
    Type.String({
      description: 'The key writes at this name and below it; null: wherever its tenant may',
    }),
  ),
  createdAt: UnixSeconds,
}

export const TsigKey = Type.Object(fields, { title: 'TSIG key' })

export const NewTsigKeyAnswer = Type.Object(
  {
    ...fields,
    secret: Type.String({ description: 'Base64 of 32 random octets; in this answer only' }),
  },
  { title: 'New TSIG key' },
)

const nameLengthMax = 255

/** Base64 of 16 to 64 octets. */
const secretPattern =
  '^(?:[A-Za-z0-9+/]{4}){5,20}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|' +
  '[A-Za-z0-9+/]{4}(?:[A-Za-z0-9+/]{2}==)?)$'

export const NewTsigKey = closed({
  name: Type.String({
    minLength: 1,
    maxLength: nameLengthMax,
    description: 'What clients call the key: a domain name, of no other key in the installation',
  }),
  algorithm: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      default: tsigAlgorithmNames[0],
      description: `\`${tsigAlgorithmNames.join('`, `')}\`; the final dot may be left out`,
    }),
  ),
  secret: Type.Optional(
    Type.String({
      pattern: secretPattern,
      'x-expected': 'Base64 of 16 to 64 octets, such as openssl rand -base64 32 prints',
      description:
        'In Base64, 16 to 64 octets: that of a key which another server has already. Without it: ' +
        '32 random octets, which is best',
      examples: ['MDEyMzQ1Njc4OWFiY2RlZg=='],
    }),
  ),
  scope: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: nameLengthMax,
      description:
        'The key writes at this name and below it, such as `_acme-challenge.www.example.com.`. ' +
        'Without it: wherever its tenant may',
    }),
  ),
})

export function showTsigKey({ id, tenantId, name, algorithm, scope, createdAtMs }: StoredTsigKey) {
  return { id, tenantId, name, algorithm, scope, createdAt: unixSeconds(createdAtMs) }
}
