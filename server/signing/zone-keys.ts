// Hands the threads the keys of the zones that are to be signed, and the time; says which are
// missing.
import type { Bundle } from '#bundle/format/bundle.ts'
import { signedZones } from '#bundle/load/zone-signing.ts'
import type { SignedZone } from '#bundle/load/zone-signing.ts'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import type { KeyOfZone } from '#dns/dnssec/key-files.ts'
import { DigestType, dsRdata, generateZoneKey } from '#dns/dnssec/zone-key.ts'
import { formatName } from '#dns/name.ts'
import { rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import { RrType } from '#dns/rrtype.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { createSignatureMemory, setSignatureTime } from '#answer/signing/signature-table.ts'
import { everyUse, packKeys } from '#answer/signing/signing-keys.ts'
import type { HandedSigning } from '#answer/signing/signing-keys.ts'
import { readStoredKeys, storeKey } from './key-store.ts'
import type { StoredKeys } from './key-store.ts'

export interface ZoneKeysParts {
  readonly directory: string
  /** What GSLB_SECRET_KEY says; null: not set. */
  readonly secretKey: Uint8Array | null
  /** False: other nodes answer the same zones, and one key is given to all. */
  readonly mayGenerate: boolean
  readonly clock: Pick<Clock, 'nowMs'>
  readonly log: Log
}

const digests = Object.values(DigestType)

const tickMs = 1_000
/** Between two looks for keys that are not there. */
const lookTicks = 10

export class ZoneKeys {
  readonly #parts: ZoneKeysParts
  #zones: readonly SignedZone[] = []
  #used: readonly KeyOfZone[] = []
  #missing: readonly string[] = []
  #handed: HandedSigning | null = null
  #signatures: SharedArrayBuffer | undefined
  #timer: NodeJS.Timeout | undefined
  #ticks = 0
  #onChange: () => void = () => undefined

  constructor(parts: ZoneKeysParts) {
    this.#parts = parts
  }

  /** @param handler called when other keys are there; it asks for them again */
  onChange(handler: () => void): void {
    this.#onChange = handler
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
      .filter(({ zone }) => formatName(zone).toLowerCase() === name)
      .flatMap(({ zone, key }) => digests.map((digest) => print(dsRdata(zone, key, digest))))
  }

  /** @returns null: no zone is to be signed, or no key of any is here */
  handedFor(bundle: Bundle): HandedSigning | null {
    this.#zones = signedZones(bundle)
    if (this.#zones.length === 0) {
      this.#missing = []
      return (this.#handed = null)
    }
    this.#keepTime()
    this.#take()
    return this.#handed
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #keepTime(): void {
    if (this.#signatures !== undefined) return
    const nowSeconds = (): number => Math.floor(this.#parts.clock.nowMs() / 1_000)
    const memory = createSignatureMemory(nowSeconds())
    this.#signatures = memory
    this.#timer = setInterval(() => {
      setSignatureTime(memory, nowSeconds())
      this.#ticks = (this.#ticks + 1) % lookTicks
      if (this.#ticks === 0 && this.#missing.length > 0 && this.#take()) this.#onChange()
    }, tickMs).unref()
  }

  /** @returns whether the keys are others than before */
  #take(): boolean {
    const { directory, log } = this.#parts
    const known = new Map(this.#used.map((one) => [formatName(one.zone).toLowerCase(), one]))
    const isThere = (zone: SignedZone): boolean => hasAlgorithm(known.get(zone.name), zone)
    const stored = this.#zones.every(isThere) ? undefined : this.#read()
    const used: KeyOfZone[] = []
    const missing: string[] = []
    for (const zone of this.#zones) {
      const key = isThere(zone) ? known.get(zone.name) : stored?.found.get(zone.name)
      const fault = isThere(zone) ? undefined : stored?.faults.get(zone.name)
      if (key !== undefined && hasAlgorithm(key, zone)) {
        used.push(key)
        continue
      }
      const made = key === undefined && fault === undefined ? this.#made(zone) : undefined
      if (made !== undefined) used.push(made)
      else missing.push(fault ?? faultOf(zone, key, directory))
    }
    const isOther =
      used.length !== this.#used.length || used.some((one, i) => one !== this.#used[i])
    if (missing.length > 0 && missing.join() !== this.#missing.join()) {
      log.error({ missing }, 'zones that are to be signed have no key: they are answered SERVFAIL')
    }
    this.#missing = missing
    this.#used = used
    const number = (this.#handed?.number ?? this.#number) + (isOther ? 1 : 0)
    if (isOther || this.#handed === null) this.#hand(number)
    return isOther
  }

  /** A folder that cannot be read may have every key: none is made. */
  #read(): StoredKeys {
    const { directory, secretKey } = this.#parts
    try {
      return readStoredKeys(directory, secretKey)
    } catch (error) {
      const said = `${directory} cannot be read: ${(error as Error).message}`
      return { found: new Map(), faults: new Map(this.#zones.map(({ name }) => [name, said])) }
    }
  }

  #number = 0

  #hand(number: number): void {
    this.#number = Math.max(number, 1)
    const signatures = this.#signatures!
    const keys = packKeys(this.#used.map((key) => ({ ...key, use: everyUse })))
    this.#handed = this.#used.length === 0 ? null : { number: this.#number, keys, signatures }
  }

  #made(zone: SignedZone): KeyOfZone | undefined {
    const { directory, secretKey, clock, log, mayGenerate } = this.#parts
    const algorithm = signingAlgorithm(zone.algorithm)
    if (!mayGenerate || algorithm === undefined) return undefined
    const key = { zone: zone.wire, key: generateZoneKey(algorithm) }
    try {
      const path = storeKey(directory, key, secretKey, clock.nowMs())
      log.info({ zone: zone.name, path }, 'made a key to sign the zone with: see "gslbd dnssec ds"')
      return key
    } catch (error) {
      log.error({ err: error, zone: zone.name }, 'a key to sign the zone with cannot be stored')
      return undefined
    }
  }
}

function hasAlgorithm(found: KeyOfZone | undefined, { algorithm }: SignedZone): boolean {
  return found?.key.algorithm.number === algorithm
}

function faultOf(zone: SignedZone, key: KeyOfZone | undefined, directory: string): string {
  const [name, wanted] = [zone.name, signingAlgorithm(zone.algorithm)?.name ?? 'another one']
  if (key === undefined) return `${directory} has no key of ${name}: bring it there`
  const has = key.key.algorithm.name
  return `the key of ${name} is of ${has}, and its zone is to be signed by ${wanted}`
}
