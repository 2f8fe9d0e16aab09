// Hands threads the keys of signed zones, and the time; reports missing keys.
import type { Bundle } from '#bundle/format/bundle.ts'
import { signableRrsets, signedZones } from '#bundle/load/zone-signing.ts'
import type { SignedZone } from '#bundle/load/zone-signing.ts'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import type { SigningAlgorithm } from '#dns/dnssec/algorithms.ts'
import type { KeyOfZone } from '#dns/dnssec/key-files.ts'
import { everyUse, KeyUse, keyUses, recordOfKey } from '#dns/dnssec/key-record.ts'
import type { KeyRecord } from '#dns/dnssec/key-record.ts'
import { DigestType, dsRdata, generateZoneKey, signerFlags } from '#dns/dnssec/zone-key.ts'
import type { ZoneKey } from '#dns/dnssec/zone-key.ts'
import { rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import { RrType } from '#dns/rrtype.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { createSignatureMemory, hasRoomFor } from '#answer/signing/signature-table.ts'
import { setSignatureTime } from '#answer/signing/signature-table.ts'
import { packKeys } from '#answer/signing/signing-keys.ts'
import type { HandedKey, HandedSigning } from '#answer/signing/signing-keys.ts'
import type { KeySource } from './key-source.ts'
import { exposedKeys, readStoredKeys, storeKey } from './key-store.ts'
import type { StoredKeys } from './key-store.ts'
import { SignalTable } from './signal-table.ts'

export interface ZoneKeysParts {
  /** Files of BIND, for zones without keys in the source. */
  readonly directory: string
  /** Left out: files are the only source. */
  readonly source?: KeySource | null
  /** Value of GSLB_SECRET_KEY; null: not set. */
  readonly secretKey: Uint8Array | null
  /** False: other nodes answer the same zones, which all need the same key. */
  readonly mayGenerate: boolean
  /** A sentence why no key may be used or made here; null, the default: keys may be. */
  readonly fault?: string | null
  readonly clock: Pick<Clock, 'nowMs'>
  readonly log: Log
}

const digests = Object.values(DigestType)
const noZones: ReadonlySet<string> = new Set()

const tickMs = 1_000
/** Between two looks for missing keys. */
const lookTicks = 10

export class ZoneKeys {
  readonly #parts: ZoneKeysParts
  #zones: readonly SignedZone[] = []
  #used: readonly UsedZone[] = []
  readonly #exposed = new Set<string>()
  #signedAtStart: ReadonlySet<string> | undefined
  #missing: readonly string[] = []
  /** Files that were read while a zone had no key, so that not each publication reads them all. */
  #stored: StoredKeys | undefined
  #handed: HandedSigning | null = null
  #signatures: SharedArrayBuffer | undefined
  #timer: NodeJS.Timeout | undefined
  #ticks = 0
  readonly #signals: SignalTable
  #onChange: () => void = () => undefined

  constructor(parts: ZoneKeysParts) {
    this.#parts = parts
    this.#signals = new SignalTable(parts.log)
    parts.source?.onChange(() => {
      if (this.#zones.length > 0 && this.#take()) this.#onChange()
    })
  }

  /** @param handler called when keys have changed; asks for them again */
  onChange(handler: () => void): void {
    this.#onChange = handler
  }

  /** Signed zones of the first bundle since the start. */
  signedAtStart(): ReadonlySet<string> {
    return this.#signedAtStart ?? noZones
  }

  /** A sentence for each zone of the bundle before that cannot be signed. */
  missing(): readonly string[] {
    return this.#missing
  }

  /**
   * The DS records that the parent of a zone may have, in presentation form.
   *
   * @param name lower case, with the final dot
   * @returns undefined: the bundle before does not sign it; none: its key is not here
   */
  dsOf(name: string): readonly string[] | undefined {
    if (!this.#zones.some((zone) => zone.name === name)) return undefined
    const { print } = rdataTypeOf(RrType.DS)
    return this.#used
      .filter(({ zone }) => zone === name)
      .flatMap(({ keys }) => keys.filter(({ use }) => (use & KeyUse.SignsKeys) !== 0))
      .flatMap(({ zone, key }) => digests.map((digest) => print(dsRdata(zone, key, digest))))
  }

  /** @returns null: no zone is to be signed, or no key of any is here */
  handedFor(bundle: Bundle): HandedSigning | null {
    const before = new Set(this.#zones.map(({ name }) => name))
    this.#zones = signedZones(bundle)
    this.#signedAtStart ??= new Set(this.#zones.map(({ name }) => name))
    if (!this.#zones.every(({ name }) => before.has(name))) this.#stored = undefined
    if (this.#zones.length === 0) {
      this.#missing = []
      return (this.#handed = null)
    }
    this.#keepTime(signableRrsets(bundle))
    this.#take()
    return this.#handed === null
      ? null
      : { ...this.#handed, signals: this.#signals.of(bundle, this.#rowsWithKeys()) }
  }

  #rowsWithKeys(): ReadonlySet<number> {
    const used = new Set(this.#used.map(({ zone }) => zone))
    return new Set(this.#zones.filter(({ name }) => used.has(name)).map(({ row }) => row))
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** @param rrsets of the bundle that may be signed */
  #keepTime(rrsets: number): void {
    const nowSeconds = (): number => Math.floor(this.#parts.clock.nowMs() / 1_000)
    if (this.#signatures === undefined || !hasRoomFor(this.#signatures, rrsets)) {
      this.#signatures = createSignatureMemory(nowSeconds(), rrsets)
    }
    if (this.#timer !== undefined) return
    this.#timer = setInterval(() => {
      setSignatureTime(this.#signatures!, nowSeconds())
      this.#ticks = (this.#ticks + 1) % lookTicks
      if (this.#ticks !== 0 || this.#missing.length === 0) return
      this.#stored = undefined
      if (this.#take()) this.#onChange()
    }, tickMs).unref()
  }

  /** @returns whether the keys have changed */
  #take(): boolean {
    const { log } = this.#parts
    const known = new Map(this.#used.map((one) => [one.zone, one]))
    const files = (): StoredKeys => (this.#stored ??= this.#read())
    const used: UsedZone[] = []
    const missing: string[] = []
    let areAllAwaited = true
    for (const zone of this.#zones) {
      const found = this.#usedOf(zone, known.get(zone.name), files)
      if ('keys' in found) used.push(found)
      else {
        missing.push(found.fault)
        areAllAwaited &&= found.isAwaited
      }
    }
    const isOther =
      used.length !== this.#used.length || used.some((one, i) => one !== this.#used[i])
    if (!areAllAwaited && missing.join() !== this.#missing.join()) {
      log.error({ missing }, 'zones that are to be signed have no key: they are answered SERVFAIL')
    }
    this.#missing = missing
    this.#used = used
    if (missing.length === 0) this.#stored = undefined
    const number = (this.#handed?.number ?? this.#number) + (isOther ? 1 : 0)
    const isSame = !isOther && this.#handed?.signatures === this.#signatures
    if (!isSame) this.#hand(number)
    return isOther
  }

  #usedOf(
    zone: SignedZone,
    before: UsedZone | undefined,
    files: () => StoredKeys,
  ): UsedZone | MissingKeys {
    const { source, directory, fault: noKeys = null } = this.#parts
    const { name, wire } = zone
    if (noKeys !== null) return missed(noKeys)
    const records = source?.keys().get(name)
    if (records !== undefined) {
      if (before?.from === records) return before
      const keys = handedKeys(wire, records)
      if (canSign(keys)) return { zone: name, from: records, keys }
      return missed(`no key of ${name} in ${source?.place} signs now: begin a rollover`)
    }
    const sourceFault = source?.faults().get(name)
    if (sourceFault !== undefined) return missed(sourceFault)
    if (before !== undefined && isOfAlgorithm(before.from, zone)) return before
    const { found, faults } = files()
    const [key, fault] = [found.get(name), faults.get(name)]
    if (isOfAlgorithm(key, zone)) return ofFile(name, key)
    if (key !== undefined || fault !== undefined) {
      return missed(fault ?? faultOf(zone, key, directory))
    }
    return this.#made(zone)
  }

  /** An unreadable folder may have any key, so none is made. */
  #read(): StoredKeys {
    const { directory, secretKey } = this.#parts
    try {
      this.#warnOfExposed()
      return readStoredKeys(directory, secretKey)
    } catch (error) {
      const said = `${directory} cannot be read: ${(error as Error).message}`
      return { found: new Map(), faults: new Map(this.#zones.map(({ name }) => [name, said])) }
    }
  }

  /** Once for each file. @throws as `readStoredKeys` */
  #warnOfExposed(): void {
    const { directory, log } = this.#parts
    for (const file of exposedKeys(directory)) {
      if (this.#exposed.has(file)) continue
      this.#exposed.add(file)
      log.warn({ file }, 'a private key can be read by others than its owner: chmod 600 it')
    }
  }

  #number = 0

  #hand(number: number): void {
    this.#number = Math.max(number, 1)
    const signatures = this.#signatures!
    const keys = packKeys(this.#used.flatMap(({ keys: ofZone }) => ofZone))
    this.#handed = this.#used.length === 0 ? null : { number: this.#number, keys, signatures }
  }

  #made(zone: SignedZone): UsedZone | MissingKeys {
    const { directory, secretKey, clock, log, mayGenerate, source } = this.#parts
    const algorithm = signingAlgorithm(zone.algorithm)
    if (!mayGenerate || algorithm === undefined) {
      const place = source?.makeFirst === null ? `neither ${source.place} nor ` : ''
      return missed(
        place === ''
          ? faultOf(zone, undefined, directory)
          : `${place}${directory} has a key of ${zone.name}`,
      )
    }
    const makeFirst = source?.makeFirst ?? null
    if (makeFirst !== null) {
      const refused = makeFirst(zone.name, ({ isSplit }) =>
        firstRecords(zone.name, algorithm, isSplit, clock.nowMs()),
      )
      if (refused !== null) return missed(refused)
      return { fault: `${source?.place} has no key of ${zone.name} yet`, isAwaited: true }
    }
    const key = { zone: zone.wire, key: generateZoneKey(algorithm) }
    try {
      const path = storeKey(directory, key, secretKey, clock.nowMs())
      log.info({ zone: zone.name, path }, 'made a key to sign the zone with: see "gslbd dnssec ds"')
      return ofFile(zone.name, key)
    } catch (error) {
      log.error({ err: error, zone: zone.name }, 'a key to sign the zone with cannot be stored')
      return missed(faultOf(zone, undefined, directory))
    }
  }
}

/** A zone, and the keys that sign it. */
interface UsedZone {
  readonly zone: string
  /** Source of the keys; while it is the same, so are they. */
  readonly from: readonly KeyRecord[] | KeyOfZone
  readonly keys: readonly HandedKey[]
}

interface MissingKeys {
  /** A sentence. */
  readonly fault: string
  /** The keys will come by themselves. */
  readonly isAwaited: boolean
}

const missed = (fault: string): MissingKeys => ({ fault, isAwaited: false })

const ofFile = (zone: string, key: KeyOfZone): UsedZone => ({
  ...{ zone, from: key },
  keys: [{ ...key, use: everyUse }],
})

function handedKeys(zone: Uint8Array, records: readonly KeyRecord[]): HandedKey[] {
  return keyUses(records)
    .filter(({ use }) => use !== 0)
    .map(({ record, use }) => {
      return { zone, key: { rdata: record.publicKey, privateKey: record.secret }, use }
    })
}

function canSign(keys: readonly HandedKey[]): boolean {
  const has = (bit: number): boolean => keys.some(({ use }) => (use & bit) !== 0)
  return has(KeyUse.SignsRecords) && has(KeyUse.SignsKeys)
}

/** Keys that sign all of a zone at once, as no part of it is cached with signatures yet. */
function firstRecords(
  zone: string,
  algorithm: SigningAlgorithm,
  isSplit: boolean,
  nowMs: number,
): readonly KeyRecord[] {
  const entry = generateZoneKey(algorithm)
  if (!isSplit) return [firstRecord(zone, entry, nowMs)]
  const times = { createdMs: nowMs, publishedMs: nowMs, activeMs: nowMs }
  let signer = generateZoneKey(algorithm, signerFlags)
  // Validators would try both of two keys with one tag.
  while (signer.tag === entry.tag) signer = generateZoneKey(algorithm, signerFlags)
  return [recordOfKey(zone, entry, 'ksk', times), recordOfKey(zone, signer, 'zsk', times)]
}

/** A key that signs all of a zone from now on; when its parent may hear: see rollover.ts. */
export function firstRecord(zone: string, key: ZoneKey, nowMs: number): KeyRecord {
  const times = { createdMs: nowMs, publishedMs: nowMs, activeMs: nowMs }
  return recordOfKey(zone, key, 'csk', times)
}

function isOfAlgorithm(
  found: UsedZone['from'] | undefined,
  { algorithm }: SignedZone,
): found is KeyOfZone {
  return found !== undefined && 'key' in found && found.key.algorithm.number === algorithm
}

function faultOf(zone: SignedZone, key: KeyOfZone | undefined, directory: string): string {
  const [name, wanted] = [zone.name, signingAlgorithm(zone.algorithm)?.name ?? 'another one']
  if (key === undefined) return `${directory} has no key of ${name}: bring it there`
  const has = key.key.algorithm.name
  return `the key of ${name} is of ${has}, and its zone is to be signed by ${wanted}`
}
