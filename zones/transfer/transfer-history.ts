// Keeps changes of zones since secondaries got them from this thread, so that they get the changes
// alone. RFC 1995 section 5.
import { memberChange } from './catalog-zone.ts'
import { historyLimits } from './limits.ts'
import type { HistoryLimits } from './limits.ts'
import { changesOfZones } from './zone-changes.ts'
import type { ZoneChange } from './zone-changes.ts'
import type { ZoneContent } from './zone-source.ts'

/** One change: from one content of the zones to the next. */
interface Step {
  readonly atMs: number
  readonly bytes: number
  /** By zone; undefined: it is to be sent whole. Zones that have not changed are not in it. */
  readonly zones: ReadonlyMap<string, ZoneChange | undefined>
}

/** Octets that a change takes in memory besides its records. */
const changeBytes = 256

/**
 * Contents have numbers, from 0: what a thread has served since it began, whether or not a serial
 * told them apart. A secondary is given the changes from the content that it was given here, and
 * not from what another node may have served under its serial.
 */
export class TransferHistory {
  readonly #limits: HistoryLimits
  readonly #nowMs: () => number
  /** The catalog zone, in wire form. */
  readonly #catalog: Uint8Array | undefined
  /** Zones that were transferred, by `zoneKeyOf`. */
  readonly #followed = new Set<string>()
  #isCatalogFollowed = false
  /** Oldest first. */
  #steps: Step[] = []
  #bytes = 0
  /** The content that the oldest change leads from. */
  #oldest = 0

  /** @param nowMs never goes back */
  constructor(nowMs: () => number, limits = historyLimits, catalog?: Uint8Array) {
    this.#nowMs = nowMs
    this.#limits = limits
    this.#catalog = catalog
  }

  /** The number of the content that is served now. */
  get content(): number {
    return this.#oldest + this.#steps.length
  }

  get size(): { readonly changes: number; readonly bytes: number } {
    return { changes: this.#steps.length, bytes: this.#bytes }
  }

  /** To be called when a transfer begins. @param zone by `zoneKeyOf`, or `catalogKey` */
  follow(zone: string): void {
    if (this.#limits.changesMax === 0) return
    if (zone === catalogKey) this.#isCatalogFollowed = true
    else this.#followed.add(zone)
  }

  /**
   * To be called when another content is served, while both can be read. What no secondary has is
   * not compared.
   */
  note(before: ZoneContent, after: ZoneContent): void {
    const isSame =
      before.bundle.digest === after.bundle.digest &&
      before.dynamic?.digest === after.dynamic?.digest
    if (isSame || (this.#followed.size === 0 && !this.#isCatalogFollowed)) return
    const zones = changesOfZones(before, after, this.#followed, this.#limits)
    for (const [zone, change] of zones) if (change === undefined) this.#followed.delete(zone)
    const members =
      this.#isCatalogFollowed && this.#catalog !== undefined
        ? memberChange(before.bundle, after.bundle, this.#catalog)
        : undefined
    if (members !== undefined) zones.set(catalogKey, members)
    if (zones.size > 0) this.#add(zones)
  }

  #add(zones: ReadonlyMap<string, ZoneChange | undefined>): void {
    let bytes = changeBytes
    for (const change of zones.values()) {
      bytes += changeBytes + (change?.removed.length ?? 0) + (change?.added.length ?? 0)
    }
    this.#steps.push({ atMs: this.#nowMs(), bytes, zones })
    this.#bytes += bytes
    this.#prune()
  }

  #prune(): void {
    const { changesMax, bytesMax, ageMaxMs } = this.#limits
    const sinceMs = this.#nowMs() - ageMaxMs
    let gone = 0
    for (const { atMs, bytes } of this.#steps) {
      const isKept = this.#steps.length - gone <= changesMax && this.#bytes <= bytesMax
      if (isKept && atMs >= sinceMs) break
      this.#bytes -= bytes
      gone++
    }
    if (gone === 0) return
    this.#steps = this.#steps.slice(gone)
    this.#oldest += gone
  }

  /** @returns what leads from one content of a zone to another, in order, or why it is not known */
  between(zone: string, from: number, to: number): readonly ZoneChange[] | 'old' | 'large' {
    this.#prune()
    if (this.#limits.changesMax === 0 || from < this.#oldest) return 'old'
    const changes: ZoneChange[] = []
    for (const { zones } of this.#steps.slice(from - this.#oldest, to - this.#oldest)) {
      if (!zones.has(zone)) continue
      const change = zones.get(zone)
      if (change === undefined) return 'large'
      changes.push(change)
    }
    return changes
  }
}

/** Stands for the catalog zone beside the names of zones: none of them is empty. */
export const catalogKey = ''
