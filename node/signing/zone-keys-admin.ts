// What people do with the keys of signed zones by the API: look at them, roll, import, remove.
import type { SignedZone, ZoneKey, ZoneKeysAdmin, ZoneKeysFault } from '#ports/zone-keys.ts'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import { readBindKey, readPublicKey } from '#dns/dnssec/key-files.ts'
import {
  foreignRecord,
  keyRecordJson,
  keyUses,
  KeyUse,
  readKeyRecord,
  recordOfKey,
} from '#dns/dnssec/key-record.ts'
import type { KeyRecord, KeyRole, KeyTimes, UsedKey } from '#dns/dnssec/key-record.ts'
import { dsText } from '#dns/dnssec/rollover.ts'
import type { Waiting } from '#dns/dnssec/rollover.ts'
import { DigestType } from '#dns/dnssec/zone-key.ts'
import { foldName, formatName } from '#dns/name.ts'
import { assert } from '#lib/assert.ts'
import { unixSeconds } from '#http/shapes.ts'
import type { Clock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { KeyKeeper } from '#server/signing/key-keeper.ts'
import { waitingLine } from '#server/signing/key-status.ts'
import type { KeyVault, VaultFault } from '#server/signing/key-vault.ts'

interface ZoneKeysAdminParts {
  /** null: without GSLB_SECRET_KEY keys are files. */
  readonly vault: Pick<KeyVault, 'keys' | 'faults' | 'refusedFirst' | 'change'> | null
  readonly keeper: () => Pick<KeyKeeper, 'views' | 'begin' | 'seen'> | null
  /** Names of the zones that are to be signed: lower case, with the final dot. */
  readonly signed: () => readonly string[]
  /** Whether the configuration lists the keys of other signers. */
  readonly isListed?: (zone: string) => boolean
  readonly clock: Pick<Clock, 'nowMs'>
}

export function createZoneKeysAdmin(parts: ZoneKeysAdminParts): ZoneKeysAdmin {
  const { vault, keeper, signed, clock } = parts
  const viewOf = (zone: string): SignedZone => {
    const views = keeper()?.views() ?? []
    const waiting = views.find((one) => one.zone === zone)?.waiting ?? []
    return {
      zone,
      keys: keyUses(vault?.keys().get(zone) ?? []).map(keyView),
      waiting: waiting.map((one) => waitView(zone, one)),
      fault: vault?.faults().get(zone) ?? vault?.refusedFirst(zone) ?? null,
    }
  }
  type Rolls = NonNullable<ReturnType<typeof keeper>>
  const acted = async (zone: string, act: (rolls: Rolls) => ReturnType<Rolls['begin']>) => {
    const rolls = keeper()
    if (vault === null || rolls === null) return noStore
    const done = await act(rolls)
    return done.ok ? ok(viewOf(zone)) : err({ code: 'conflict' as const, message: done.error })
  }
  return {
    list: () => {
      const names = new Set([...signed(), ...(vault?.keys().keys() ?? [])])
      return [...names].toSorted().map(viewOf)
    },
    roll: (zone, { which, isEmergency }) => {
      const role = which === 'all' ? null : which
      return acted(zone, (rolls) => rolls.begin(zone, { role, isEmergency }))
    },
    dsSeen: (zone, tag) => acted(zone, (rolls) => rolls.seen(zone, tag)),
    importKey: async (zone, { record, secret }) => {
      if (vault === null) return noStore
      const nowMs = clock.nowMs()
      const read = secret === null ? foreignKey(record, nowMs) : ownKey(record, secret, nowMs)
      if (!read.ok) return err({ code: 'invalid', message: read.error })
      const imported = read.value
      if (imported.zone !== zone) {
        return err({ code: 'invalid', message: `the key is of the zone ${imported.zone}` })
      }
      const isListed = parts.isListed?.(zone) === true
      const changed = await vault.change(zone, (before) =>
        withImported(before, imported, { isListed, nowMs }),
      )
      if (!changed.ok) return err(faultOf(changed.error))
      const used = keyUses(changed.value).find((one) => isSame(one.record, imported))
      assert(used !== undefined, 'a key that was stored is among those of its zone')
      return ok(keyView(used))
    },
    removeKey: async (zone, id) => {
      if (vault === null) return noStore
      let removed: KeyRecord | undefined
      const changed = await vault.change(zone, (before) => {
        // Keys that a configuration lists may share a tag, also with one that is here.
        const named = before.filter((one) => idOf(one) === id)
        const found = named.find(isOut) ?? named[0]
        removed = found
        if (found === undefined) return ok(before)
        if (found.secret === null && parts.isListed?.(zone) === true) return err(listed)
        return isOut(found)
          ? ok(before.filter((one) => one !== found))
          : err('the key is in use: roll, and wait until it is out of the zone')
      })
      if (!changed.ok) return err(faultOf(changed.error))
      const gone: KeyRecord | undefined = removed
      if (gone === undefined) return err({ code: 'missing', message: 'there is no such key' })
      const isLeft = changed.value.some((one) => isSame(one, gone))
      assert(!isLeft, 'a key that was removed is not among those of its zone')
      return ok(null)
    },
  }
}

const noStore: Result<never, ZoneKeysFault> = err({
  code: 'no-store',
  message:
    'this node has no GSLB_SECRET_KEY, under which keys of zones are stored; set it to the same ' +
    '64 hexadecimal digits on every control node (openssl rand -hex 32 makes some)',
})

function faultOf({ code, message }: VaultFault): ZoneKeysFault {
  const isConflict = code === 'refused' || code === 'contended' || code === 'too-many-keys'
  return { code: isConflict ? 'conflict' : 'away', message }
}

function ownKey(record: string, secret: string, nowMs: number): Result<KeyRecord, string> {
  const read = readBindKey(record, secret)
  if (!read.ok) return read
  const { key, zone } = read.value
  const role: KeyRole = key.flags === 256 ? 'zsk' : 'csk'
  return ok(recordOfKey(formatName(foldName(zone)), key, role, { createdMs: nowMs }))
}

function foreignKey(record: string, nowMs: number): Result<KeyRecord, string> {
  const read = readPublicKey(record)
  if (!read.ok) return read
  const one = foreignRecord(formatName(foldName(read.value.zone)), read.value.rdata, nowMs)
  // What a store takes, nodes can read.
  return readKeyRecord(keyRecordJson(one), null)
}

const sameTag = ({ tag }: KeyRecord): string =>
  `the zone has another key with the tag ${tag} and this algorithm, and validators would try ` +
  'both: make another key there, or remove the one that is here if it is out of use'

const listed =
  'the keys of other servers are those of dnssec.dnskeys of the zone: change them there'

function withImported(
  before: readonly KeyRecord[],
  imported: KeyRecord,
  { isListed, nowMs }: { readonly isListed: boolean; readonly nowMs: number },
): Result<readonly KeyRecord[], string> {
  if (before.some((one) => isSame(one, imported))) return err('the zone has this key already')
  if (before.some((one) => idOf(one) === idOf(imported))) return err(sameTag(imported))
  if (imported.secret === null) return isListed ? err(listed) : withForeign(before, imported)
  const times = { ...imported.times, ...timesBeside(before, imported, nowMs) }
  return ok([...before, { ...imported, times }])
}

/** More would make the DNSKEY rrset too large for UDP. */
const foreignMax = 8

/** Each algorithm in the DNSKEY rrset has to sign all of a zone: RFC 4035 section 2.2. */
function withForeign(
  before: readonly KeyRecord[],
  foreign: KeyRecord,
): Result<readonly KeyRecord[], string> {
  const own = before.filter(({ secret, times }) => secret !== null && times.removedMs === null)
  if (own.length === 0)
    return err('the zone has no key of its own yet, beside which another stands')
  if (own.some(({ algorithm }) => algorithm !== foreign.algorithm)) {
    return err(
      'the key is of another algorithm than those of the zone: no answer has signatures of it',
    )
  }
  const others = before.filter(({ secret }) => secret === null)
  if (others.length >= foreignMax) return err(`the zone has ${foreignMax} keys of other servers`)
  return ok([...before, foreign])
}

/**
 * A key beside one whose DS the parent may have is in no cache: it takes over by a roll. One of
 * another algorithm is not even shown yet, since nothing is signed by it. RFC 6781 section 4.1.4.
 */
function timesBeside(
  before: readonly KeyRecord[],
  { algorithm }: KeyRecord,
  nowMs: number,
): Partial<KeyTimes> {
  const shown = before.filter(({ times: { publishedMs, removedMs } }) => {
    return publishedMs !== null && removedMs === null
  })
  const isInUse = shown.some(({ times }) => times.dsSubmittedMs !== null || times.dsSeenMs !== null)
  if (!isInUse) return { publishedMs: nowMs, activeMs: nowMs, dsSubmittedMs: nowMs }
  return shown.some((one) => one.algorithm === algorithm) ? { publishedMs: nowMs } : {}
}

const isSame = (one: KeyRecord, other: KeyRecord): boolean =>
  Buffer.compare(one.publicKey, other.publicKey) === 0
const idOf = ({ algorithm, tag }: KeyRecord): string => `${algorithm}-${tag}`
/** Made and never shown, or shown no more; when another server has ended is for people to know. */
const isOut = ({ secret, times }: KeyRecord): boolean =>
  secret === null ||
  times.removedMs !== null ||
  (times.publishedMs === null && times.activeMs === null)

function keyView({ record, use }: UsedKey): ZoneKey {
  const { tag, algorithm, role, flags, secret, times } = record
  return {
    ...{ id: idOf(record), tag, role, flags, state: stateOf(record) },
    algorithm: signingAlgorithm(algorithm)?.mnemonic ?? `${algorithm}`,
    signsRecords: (use & KeyUse.SignsRecords) !== 0,
    signsKeys: (use & KeyUse.SignsKeys) !== 0,
    inCds: (use & KeyUse.InCds) !== 0,
    hasPrivateKey: secret !== null,
    dnskey: dnskeyText(record),
    ds: role === 'zsk' ? [] : Object.values(DigestType).map((digest) => dsText(record, digest)),
    createdAt: seconds(times.createdMs),
    publishedAt: seconds(times.publishedMs),
    activeAt: seconds(times.activeMs),
    dsSubmittedAt: seconds(times.dsSubmittedMs),
    dsSeenAt: seconds(times.dsSeenMs),
    dsSaidAt: seconds(times.dsSaidMs),
    retiredAt: seconds(times.retiredMs),
    removedAt: seconds(times.removedMs),
  }
}

/** RFC 4034 section 2.2. */
function dnskeyText({ flags, algorithm, publicKey }: KeyRecord): string {
  return `${flags} 3 ${algorithm} ${Buffer.from(publicKey.subarray(4)).toString('base64')}`
}

function stateOf({ role, times }: KeyRecord): string {
  if (times.removedMs !== null) return 'removed'
  if (times.retiredMs !== null) return 'retired'
  const isLeading = role === 'ksk' ? times.dsSeenMs !== null : times.activeMs !== null
  if (isLeading) return 'active'
  return times.publishedMs === null ? 'created' : 'published'
}

function waitView(zone: string, one: Waiting): SignedZone['waiting'][number] {
  const untilMs = one.for === 'time' || one.for === 'age' ? one.untilMs : null
  const until = seconds(untilMs)
  return { for: one.for, tag: one.tag, until, message: waitingLine(zone, one) }
}

const seconds = (ms: number | null): number | null => (ms === null ? null : unixSeconds(ms))
