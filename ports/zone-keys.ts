// The port to the keys of signed zones: what they are, what they wait for, and what people do.
import type { Result } from '#lib/result.ts'

export interface ZoneKeyView {
  /** Algorithm and tag: `13-12345`. */
  readonly id: string
  readonly tag: number
  /** Mnemonic: `ECDSAP256SHA256`. */
  readonly algorithm: string
  readonly role: string
  readonly flags: number
  /** `created`, `published`, `active`, `retired` or `removed`. */
  readonly state: string
  readonly signsRecords: boolean
  readonly signsKeys: boolean
  /** CDS and CDNSKEY say that the parent is to have its DS. */
  readonly isInCds: boolean
  /** False: another server signs with it. */
  readonly hasPrivateKey: boolean
  /** Rdata in presentation form. */
  readonly dnskey: string
  /** The same, SHA-256 and SHA-384; none of a ZSK. */
  readonly ds: readonly string[]
  /** When what happened to it, Unix epoch; null: it has not. */
  readonly times: Readonly<Record<string, number | null>>
}

export interface ZoneWaitView {
  /** `time`, `age`, `nodes`, `parent` or `old-ds`: the last two may wait for a person. */
  readonly for: string
  readonly tag: number
  /** A sentence. */
  readonly message: string
  /** Unix epoch; null: nobody knows. */
  readonly untilMs: number | null
}

export interface SignedZoneView {
  /** Lower case, with the final dot. */
  readonly zone: string
  readonly keys: readonly ZoneKeyView[]
  readonly waiting: readonly ZoneWaitView[]
  /** Why the keys cannot be used, a sentence; null: they can. */
  readonly fault: string | null
}

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
  readonly list: () => readonly SignedZoneView[]
  readonly roll: (zone: string, roll: NewRoll) => Done<SignedZoneView>
  /** A person says that the parent has the DS of a key. */
  readonly dsSeen: (zone: string, tag: number) => Done<SignedZoneView>
  /** The two files of BIND, as text; without a secret another server signs with the key. */
  readonly importKey: (
    zone: string,
    files: { readonly record: string; readonly secret: string | null },
  ) => Done<ZoneKeyView>
  /** A key that is out of the zone, or another server's; null: it is gone. */
  readonly removeKey: (zone: string, id: string) => Done<null>
}
