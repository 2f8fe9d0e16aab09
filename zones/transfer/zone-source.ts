// One generation of what is served, as transfers read it: it stays as it is until the last of them
// is done, whatever is published meanwhile.
import type { Bundle } from '#bundle/format/bundle.ts'
import { textOf } from '#bundle/format/bundle.ts'
import { parseRoutingText } from '#bundle/format/routing-text.ts'
import type { DigestedRecord } from '#dns/dnssec/zone-digest.ts'

/** What zones consist of, without the serial. */
export interface ZoneContent {
  readonly bundle: Bundle
  /** See ServingView. */
  readonly dynamic: Bundle | undefined
}

/** Its bundles are to be asked for anew after each pause: `moveTo` replaces them. */
export class ZoneSource implements ZoneContent {
  #bundle: Bundle
  #dynamic: Bundle | undefined
  readonly serial: number
  /** See TransferHistory. */
  readonly content: number
  /** ZONEMD records by row in `zoneNode`: of these bundles and this serial. */
  readonly digests = new Map<number, DigestedRecord>()
  /** Rows of zones with too many records for one. */
  readonly undigested = new Set<number>()
  #policy: Readonly<Record<string, boolean>> | undefined
  #users = 0
  #isOver = false

  constructor(bundle: Bundle, dynamic: Bundle | undefined, serial: number, content = 0) {
    this.#bundle = bundle
    this.#dynamic = dynamic
    this.serial = serial
    this.content = content
  }

  get bundle(): Bundle {
    return this.#bundle
  }

  get dynamic(): Bundle | undefined {
    return this.#dynamic
  }

  /** By name: whether a zone is sent with a digest; it is not there where the zone says nothing. */
  get digestPolicy(): Readonly<Record<string, boolean>> {
    return (this.#policy ??= digestsOf(this.#bundle))
  }

  get isUsed(): boolean {
    return this.#users > 0
  }

  /** Nothing may be read of it any more: its transfers end where they are. */
  get isOver(): boolean {
    return this.#isOver
  }

  hold(): void {
    this.#users++
  }

  release(): void {
    this.#users--
  }

  /** @param bundle the same octets in other memory, and so `dynamic` */
  moveTo(bundle: Bundle, dynamic: Bundle | undefined): void {
    this.#bundle = bundle
    this.#dynamic = dynamic
  }

  end(): void {
    this.#isOver = true
  }
}

function digestsOf(bundle: Bundle): Readonly<Record<string, boolean>> {
  return parseRoutingText(textOf(bundle, bundle.routingSettings[0]!))?.zoneDigests ?? {}
}
