// Defines the port to the keys of signed zones: their JSON, and what people do with them.
import type { Result } from '#lib/result.ts'
import { Type } from '#lib/schema/type.ts'
import type { Shown } from '#lib/schema/type.ts'
import { nullable, UnixSeconds } from '#http/shapes.ts'

export const ZoneKey = Type.Object(
  {
    id: Type.String({ description: 'Algorithm and tag' }),
    tag: Type.Integer(),
    algorithm: Type.String(),
    role: Type.String({ description: '`csk`, `ksk` or `zsk`' }),
    flags: Type.Integer(),
    state: Type.String({
      description: '`created`, `published`, `active`, `retired` or `removed`',
    }),
    signsRecords: Type.Boolean(),
    signsKeys: Type.Boolean(),
    inCds: Type.Boolean({ description: 'CDS and CDNSKEY ask the parent for its DS' }),
    hasPrivateKey: Type.Boolean({ description: 'False: another server signs with it' }),
    dnskey: Type.String({ description: 'Rdata in presentation form' }),
    ds: Type.Array(Type.String(), { description: 'The same; none of a ZSK' }),
    createdAt: nullable(UnixSeconds),
    publishedAt: nullable(UnixSeconds),
    activeAt: nullable(UnixSeconds),
    dsSubmittedAt: nullable(UnixSeconds),
    dsSeenAt: nullable(UnixSeconds),
    dsSaidAt: nullable(UnixSeconds),
    retiredAt: nullable(UnixSeconds),
    removedAt: nullable(UnixSeconds),
  },
  { title: 'ZoneKey' },
)
export type ZoneKey = Shown<typeof ZoneKey>

export const SignedZone = Type.Object(
  {
    zone: Type.String({ description: 'Lower case, with the final dot' }),
    keys: Type.Array(ZoneKey),
    waiting: Type.Array(
      Type.Object({
        for: Type.String({
          description:
            '`time`, `age`, `nodes`, `key` (another one), `parent` or `old-ds`: the last two may ' +
            'wait for a person',
        }),
        tag: Type.Integer(),
        message: Type.String(),
        until: nullable(UnixSeconds),
      }),
    ),
    fault: nullable(Type.String({ description: 'Why its keys cannot be used; null: they can' })),
  },
  { title: 'SignedZone' },
)
export type SignedZone = Shown<typeof SignedZone>

export interface ZoneKeysFault {
  /** `no-store`: keys are files, without GSLB_SECRET_KEY. */
  readonly code: 'no-store' | 'missing' | 'invalid' | 'conflict' | 'away'
  readonly message: string
}

interface NewRoll {
  readonly which: 'csk' | 'ksk' | 'zsk' | 'all'
  readonly isEmergency: boolean
}

type Done<T> = Promise<Result<T, ZoneKeysFault>>

export interface ZoneKeysAdmin {
  /** Signed zones, and those that have keys, by name. */
  readonly list: () => readonly SignedZone[]
  readonly roll: (zone: string, roll: NewRoll) => Done<SignedZone>
  /** A person says that the parent has the DS of a key. */
  readonly dsSeen: (zone: string, tag: number) => Done<SignedZone>
  /** The two files of BIND, as text; without a secret another server signs with the key. */
  readonly importKey: (
    zone: string,
    files: { readonly record: string; readonly secret: string | null },
  ) => Done<ZoneKey>
  /** A key that is out of the zone, or another server's; null: it is gone. */
  readonly removeKey: (zone: string, id: string) => Done<null>
}
