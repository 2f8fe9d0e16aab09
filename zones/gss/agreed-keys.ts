// Keeps the keys that clients have negotiated, and negotiations under way: the one that was used
// first goes first.
import { assert } from '#lib/assert.ts'
import type { TsigKey } from '#dns/tsig/tsig-key.ts'
import type { SecurityContext } from '#system/gss/security-context.ts'
import type { GssLimits } from './limits.ts'

/** A key of a client that has proven who it is. It writes updates, and transfers nothing. */
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
  /** By name; the one that was used first is first, here and of each client. */
  readonly #all = new Map<string, Negotiation>()
  readonly #byClient = new Map<string, Map<string, Negotiation>>()
  readonly #unfinished = new Set<Negotiation>()

  constructor(limits: GssLimits, monotonicMs: () => number) {
    this.#limits = limits
    this.#monotonicMs = monotonicMs
  }

  get count(): number {
    return this.#all.size
  }

  /** @returns undefined: there is none, or its time is over */
  find(name: Uint8Array): Negotiation | undefined {
    const found = this.#all.get(textOf(name))
    if (found === undefined) return undefined
    if (found.isBusy || !this.#isOver(found)) return found
    this.forget(found)
    return undefined
  }

  begin(name: Uint8Array, client: string, context: SecurityContext): Negotiation {
    const { contextsMax, unfinishedMax, perClientMax, negotiationMaxMs } = this.#limits
    assert(!this.#all.has(textOf(name)), 'a name stands for one key')
    const nowMs = this.#monotonicMs()
    for (const other of this.#all.values()) {
      if (!this.#isOver(other)) break
      this.forget(other)
    }
    const own = this.#byClient.get(client)
    if (own !== undefined && own.size >= perClientMax) this.#forgetFirst(own.values())
    if (this.#unfinished.size >= unfinishedMax) this.#forgetFirst(this.#unfinished.values())
    if (this.#all.size >= contextsMax) this.#forgetFirst(this.#all.values())
    const made: Negotiation = {
      ...{ name, client, context, key: undefined, steps: 0, isBusy: false },
      ...{ endsMs: nowMs + negotiationMaxMs, usedMs: nowMs, holds: 0, isForgotten: false },
    }
    this.#unfinished.add(made)
    this.#put(made)
    return made
  }

  /** @param endsMs when the ticket of the client ends */
  agree(one: Negotiation, key: AgreedKey, endsMs: number): void {
    one.key = key
    one.endsMs = endsMs
    this.#unfinished.delete(one)
    this.use(one)
  }

  /** It goes last from now on. */
  use(used: Negotiation): void {
    if (used.isForgotten) return
    this.#take(used)
    used.usedMs = this.#monotonicMs()
    this.#put(used)
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
    this.#unfinished.delete(gone)
    if (gone.holds === 0) gone.context.drop()
  }

  #isOver({ endsMs, usedMs }: Negotiation): boolean {
    const nowMs = this.#monotonicMs()
    return nowMs >= endsMs || nowMs >= usedMs + this.#limits.idleMs
  }

  #forgetFirst(some: Iterable<Negotiation>): void {
    const [first] = some
    if (first !== undefined) this.forget(first)
  }

  #put(one: Negotiation): void {
    const text = textOf(one.name)
    this.#all.set(text, one)
    const own = this.#byClient.get(one.client) ?? new Map<string, Negotiation>()
    this.#byClient.set(one.client, own.set(text, one))
  }

  #take(gone: Negotiation): void {
    const { name, client } = gone
    const text = textOf(name)
    this.#all.delete(text)
    const own = this.#byClient.get(client)
    own?.delete(text)
    if (own?.size === 0) this.#byClient.delete(client)
  }
}

const textOf = (name: Uint8Array): string => Buffer.from(name).toString('latin1')
