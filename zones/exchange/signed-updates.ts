// Remembers recent signed updates: a repeated one gets the first answer and is not carried out
// again. RFC 8945 section 5.2.3.
import type { UpdateOutcome } from '#dns/update/update-outcome.ts'
import { tsigFudgeSeconds } from '#dns/tsig/tsig-key.ts'

/** Keeps a key from filling the memory. Beyond, the updates signed first are forgotten. */
const signedUpdateLimits: SignedUpdateLimits = Object.freeze({
  perKeyMax: 10_000,
  max: 100_000,
})

interface SignedUpdateLimits {
  readonly perKeyMax: number
  /** Updates of all keys together. */
  readonly max: number
}

/** Identifies a signed update: only an owner of the key can make a new MAC. */
export interface SignedUpdate {
  readonly keyId: string
  readonly mac: Uint8Array
  readonly timeSeconds: number
}

type Outcome = Promise<UpdateOutcome>

interface KeyMemory {
  /** Updates signed then or before are forgotten. */
  forgottenSeconds: number
  count: number
  /** By the second of signing, of which few are valid at once; then by MAC. */
  readonly seconds: Map<number, Map<string, Outcome>>
}

export class SignedUpdates {
  readonly #limits: SignedUpdateLimits
  /** Sorted by the time of the last signature, oldest first. */
  readonly #byKey = new Map<string, KeyMemory>()
  #count = 0
  #sweptSeconds = 0
  /** The latest second forgotten with a key of which nothing is left: it applies to all keys. */
  #floorSeconds = 0

  constructor(limits = signedUpdateLimits) {
    this.#limits = limits
  }

  get count(): number {
    return this.#count
  }

  /** @returns the outcome; `new`; `too-old`: it may have been seen before and must be refused */
  find({ keyId, mac, timeSeconds }: SignedUpdate): Outcome | 'new' | 'too-old' {
    const memory = this.#byKey.get(keyId)
    const known = memory?.seconds.get(timeSeconds)?.get(textOf(mac))
    if (known !== undefined) return known
    const floor = Math.max(this.#floorSeconds, memory?.forgottenSeconds ?? 0)
    return timeSeconds <= floor ? 'too-old' : 'new'
  }

  remember({ keyId, mac, timeSeconds }: SignedUpdate, outcome: Outcome, nowSeconds: number): void {
    if (Math.abs(nowSeconds - this.#sweptSeconds) >= sweepSeconds) this.#sweep(nowSeconds)
    const memory = this.#byKey.get(keyId) ?? nothing()
    this.#byKey.delete(keyId)
    this.#byKey.set(keyId, memory)
    const known = memory.seconds.get(timeSeconds) ?? new Map<string, Outcome>()
    memory.seconds.set(timeSeconds, known.set(textOf(mac), outcome))
    memory.count++
    this.#count++
    while (memory.count > this.#limits.perKeyMax) this.#forgetEarliest(memory)
    for (const other of this.#byKey.values()) {
      if (this.#count <= this.#limits.max) return
      while (this.#count > this.#limits.max && other.count > 0) this.#forgetEarliest(other)
    }
  }

  /** Forgets whole seconds: a message is accepted only if all of its second is remembered. */
  #forgetEarliest(memory: KeyMemory): void {
    const earliest = Math.min(...memory.seconds.keys())
    memory.forgottenSeconds = earliest
    this.#forget(memory, earliest)
  }

  #forget(memory: KeyMemory, second: number): void {
    const { size } = memory.seconds.get(second)!
    memory.seconds.delete(second)
    memory.count -= size
    this.#count -= size
  }

  /**
   * Old messages are refused by their time alone, unless the clock is set back: so forgotten
   * seconds leave a floor.
   */
  #sweep(nowSeconds: number): void {
    this.#sweptSeconds = nowSeconds
    const first = nowSeconds - tsigFudgeSeconds
    for (const [keyId, memory] of this.#byKey) {
      for (const second of memory.seconds.keys()) {
        if (second >= first) continue
        this.#forget(memory, second)
        memory.forgottenSeconds = Math.max(memory.forgottenSeconds, second)
      }
      if (memory.count > 0 || memory.forgottenSeconds >= first) continue
      this.#byKey.delete(keyId)
      this.#floorSeconds = Math.max(this.#floorSeconds, memory.forgottenSeconds)
    }
  }
}

const nothing = (): KeyMemory => ({ forgottenSeconds: 0, count: 0, seconds: new Map() })

const sweepSeconds = 60

const textOf = (mac: Uint8Array): string => Buffer.from(mac).toString('latin1')
