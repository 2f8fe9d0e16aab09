// Keeps the keys that clients have negotiated, and negotiations under way: beyond the limits the
// least recently used one goes.
import { assert } from '#lib/assert.ts'
import { getOrInsert } from '#lib/sequence/get-or-insert.ts'
import type { TsigKey } from '#dns/tsig/tsig-key.ts'
import type { SecurityContext } from '#system/gss/security-context.ts'
import type { GssLimits } from './limits.ts'

/** It writes updates, and transfers nothing. */
export interface AgreedKey extends TsigKey {
  /** The same for all keys of a principal: a message that comes again is known by it. */
  readonly id: string
  readonly principal: string
  readonly scope: null
  readonly mayTransfer: false
}

export interface Negotiation {
  /** Wire form, in lower case. */
  readonly name: Uint8Array
  /** The one that began it, as `perClientMax` counts. */
  readonly client: string
  readonly context: SecurityContext
  /** undefined: not yet. */
  key: AgreedKey | undefined
  steps: number
  /** A token is being looked at. */
  isBusy: boolean
  /** By a clock that never goes back. */
  endsMs: number
  usedMs: number
  /** Replies that are not signed yet. */
  holds: number
  isForgotten: boolean
}

export class AgreedKeys {
  readonly #limits: GssLimits
  readonly #monotonicMs: () => number
  /** By name, least recently used first; so are those of each client. */
  readonly #agreed = new Map<string, Negotiation>()
  readonly #byClient = new Map<string, Map<string, Negotiation>>()
  /**
   * By name, first begun first: negotiations, and keys that have signed nothing. A token that was
   * recorded brings a key, too, which its sender does not know. These take the place of no others.
   */
  readonly #unproven = new Map<string, Negotiation>()

  constructor(limits: GssLimits, monotonicMs: () => number) {
    this.#limits = limits
    this.#monotonicMs = monotonicMs
  }

  get count(): number {
    return this.#agreed.size + this.#unproven.size
  }

  /** @returns undefined: there is none, or its time is over */
  find(name: Uint8Array): Negotiation | undefined {
    const text = textOf(name)
    const found = this.#agreed.get(text) ?? this.#unproven.get(text)
    if (found === undefined) return undefined
    if (found.isBusy || !this.#isOver(found)) return found
    this.forget(found)
    return undefined
  }

  begin(name: Uint8Array, client: string, context: SecurityContext): Negotiation {
    const { unprovenMax, perClientMax, negotiationMaxMs } = this.#limits
    const text = textOf(name)
    assert(!this.#agreed.has(text) && !this.#unproven.has(text), 'a name stands for one key')
    const nowMs = this.#monotonicMs()
    for (const some of [this.#agreed, this.#unproven]) this.#forgetOver(some.values())
    const own = [...this.#unproven.values()].filter((other) => other.client === client)
    if (own.length >= perClientMax) this.#forgetFirst(own)
    if (this.#unproven.size >= unprovenMax) this.#forgetFirst(this.#unproven.values())
    const made: Negotiation = {
      ...{ name, client, context, key: undefined, steps: 0, isBusy: false },
      ...{ endsMs: nowMs + negotiationMaxMs, usedMs: nowMs, holds: 0, isForgotten: false },
    }
    this.#unproven.set(text, made)
    return made
  }

  /** @param endsMs when the ticket of the client ends */
  agree(one: Negotiation, key: AgreedKey, endsMs: number): void {
    one.key = key
    one.endsMs = endsMs
  }

  /** It has signed a message, and goes last from now on. */
  use(used: Negotiation): void {
    assert(used.key !== undefined, 'only a key signs')
    if (used.isForgotten) return
    const { contextsMax, perClientMax } = this.#limits
    this.#take(used)
    const own = this.#byClient.get(used.client)
    if (own !== undefined && own.size >= perClientMax) this.#forgetFirst(own.values())
    if (this.#agreed.size >= contextsMax) this.#forgetFirst(this.#agreed.values())
    used.usedMs = this.#monotonicMs()
    const text = textOf(used.name)
    this.#agreed.set(text, used)
    getOrInsert(this.#byClient, used.client, () => new Map()).set(text, used)
  }

  /** Keeps its context until the reply is signed. @returns what ends that, called at least once */
  hold(held: Negotiation): () => void {
    held.holds++
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      held.holds--
      if (held.isForgotten && held.holds === 0) held.context.drop()
    }
  }

  forget(gone: Negotiation): void {
    if (gone.isForgotten) return
    gone.isForgotten = true
    this.#take(gone)
    if (gone.holds === 0) gone.context.drop()
  }

  #isOver({ endsMs, usedMs }: Negotiation): boolean {
    const nowMs = this.#monotonicMs()
    return nowMs >= endsMs || nowMs >= usedMs + this.#limits.idleMs
  }

  #forgetOver(some: Iterable<Negotiation>): void {
    for (const one of some) {
      if (!this.#isOver(one)) break
      this.forget(one)
    }
  }

  #forgetFirst(some: Iterable<Negotiation>): void {
    const [first] = some
    if (first !== undefined) this.forget(first)
  }

  #take({ name, client }: Negotiation): void {
    const text = textOf(name)
    this.#unproven.delete(text)
    this.#agreed.delete(text)
    const own = this.#byClient.get(client)
    own?.delete(text)
    if (own?.size === 0) this.#byClient.delete(client)
  }
}

const textOf = (name: Uint8Array): string => Buffer.from(name).toString('latin1')
