// The secrets of DNS cookies and their clock in shared memory: the main thread writes, all
// answering threads read. RFC 9018.
import { assert } from '#lib/assert.ts'
import { siphashKeyBytes } from '#dns/siphash.ts'

/** Octets of a secret. RFC 9018 section 4.4. */
export const secretBytes = siphashKeyBytes

export const SecretCell = {
  /** Seconds since the Unix epoch, the low 32 bits; 0: cookies are off. */
  NowSeconds: 0,
  /** 1: cookies are enforced. */
  Enforces: 1,
  /**
   * 0: each day has a secret. Else the slot of the secret that makes cookies, plus `OneFixed`; or
   * plus `TwoFixed` where cookies of the secret in the next slot are valid, too.
   */
  Fixed: 2,
  Keys: 4,
} as const

export const OneFixed = 4
export const TwoFixed = 8
/** Slots for secrets: for four days, or two for the settings and two for the next settings. */
const slots = 4
const cellsOfKey = secretBytes / 4
export const cookieCellBytes = (SecretCell.Keys + slots * cellsOfKey) * 4

export const daySeconds = 86_400

/** The slot of a day's secret; days less than four apart have different slots. */
export function slotOfDay(day: number): number {
  return day & (slots - 1)
}

export function keyCell(slot: number): number {
  return SecretCell.Keys + slot * cellsOfKey
}

/** Called by the main thread alone. */
export class SecretWriter {
  readonly #cells: Int32Array
  #firstDay = -1

  constructor(shared: SharedArrayBuffer, enforces: boolean) {
    this.#cells = new Int32Array(shared)
    this.#cells[SecretCell.Enforces] = enforces ? 1 : 0
  }

  /**
   * Cookies are made with the first secret; those of the second are valid, too. No thread reads
   * half of a secret: the new ones go to the two slots that are not in use.
   *
   * @param secrets one or two, of `secretBytes` each
   */
  setFixed(secrets: readonly Uint8Array[]): void {
    assert(secrets.length === 1 || secrets.length === 2, 'one secret or two are set')
    const before = Atomics.load(this.#cells, SecretCell.Fixed)
    const slot = (before & 3) === 0 && before !== 0 ? 2 : 0
    for (const [i, secret] of secrets.entries()) this.#write(slot + i, secret)
    const fixed = slot + (secrets.length === 2 ? TwoFixed : OneFixed)
    Atomics.store(this.#cells, SecretCell.Fixed, fixed)
  }

  /**
   * Sets the secrets of yesterday, today and tomorrow, so that cookies of a node whose clock is off
   * are read, too. Call it at least once a day; secrets already in place are not written again.
   *
   * @param secretOf gives the secret of a day since the Unix epoch
   */
  setDaily(nowSeconds: number, secretOf: (day: number) => Uint8Array): void {
    const firstDay = Math.floor(nowSeconds / daySeconds) - 1
    if (firstDay === this.#firstDay) return
    const isNext = firstDay === this.#firstDay + 1
    for (let day = isNext ? firstDay + 2 : firstDay; day <= firstDay + 2; day++) {
      this.#write(slotOfDay(day), secretOf(day))
    }
    this.#firstDay = firstDay
  }

  /** Sets the time of cookies; the secrets for that time must be in place. */
  tick(nowSeconds: number): void {
    // 0 would turn cookies off.
    Atomics.store(this.#cells, SecretCell.NowSeconds, nowSeconds | 0 || 1)
  }

  #write(slot: number, secret: Uint8Array): void {
    assert(secret.length === secretBytes, 'a secret has 16 octets')
    const view = new DataView(secret.buffer, secret.byteOffset, secret.length)
    for (let word = 0; word < cellsOfKey; word++) {
      this.#cells[keyCell(slot) + word] = view.getInt32(word * 4, true)
    }
  }
}
