// Keeps the certificate of an ACME server fresh: one control node at a time orders, renews at two
// thirds of the certificate's time, and pauses after failures as the CA wants.
import { assert } from '#lib/assert.ts'
import type { Clock } from '#lib/clock.ts'
import { holderOf, isFreeFor, LeaseWatch } from '#lib/cluster/lease-watch.ts'
import type { Log } from '#lib/log.ts'
import type { Random } from '#lib/random.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { AcmeAccount, AcmeState } from './acme-state.ts'
import { acmeStateLimits } from './acme-state.ts'
import type { AskRenewal } from './ask-renewal.ts'
import type { CaProblem } from './ca-transport.ts'
import type { OneCertificate } from './certificate-vault.ts'
import { newPrivateKey } from './private-key.ts'
import type {
  ChallengeSolver,
  ExternalAccount,
  OrderCertificate,
  OrderedCertificate,
} from './order-certificate.ts'
import { pausesAfterFailure, pausesAfterOrder } from './pauses.ts'
import type { AcmeWish } from './pauses.ts'
import { RenewalAsker } from './renewal-asker.ts'
import { renewalOf } from './renewal-window.ts'
import { isFor, renewAtMs, replacedFault, whyAtAll, whyNow } from './renewal.ts'

export interface AcmeKeeperParts {
  readonly vault: Omit<OneCertificate, 'fault'>
  readonly wish: AcmeWish
  /** An entry of `acme.certificates`; '': `acme.names`. */
  readonly entry: string
  /** Wishes of other entries: names that move to one of them were not replaced by others. */
  readonly besides: readonly AcmeWish[]
  /** The terms of service of the CA were agreed to. */
  readonly agreesToTerms: boolean
  readonly contact: readonly string[]
  /** PEM of the authorities of the CA. Errors: why its file cannot be read. */
  readonly authorities: () => Result<string | undefined, string>
  /** Read with each order. Errors: why its key cannot be read. */
  readonly externalAccount: () => Result<ExternalAccount | undefined, string>
  readonly order: OrderCertificate
  readonly askRenewal: AskRenewal
  readonly solver: ChallengeSolver
  /** False: this node has no configuration yet, and cannot prove anything. */
  readonly canProve: () => boolean
  /** This node's name; no two control nodes have the same. */
  readonly node: string
  /** Unique to this process. */
  readonly instance: string
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
}

export const keeperLimits = {
  /** An order of another node counts as over after this long without a sign of it. */
  abandonedMs: 600_000,
  /** How often a running order gives a sign. */
  beatMs: 60_000,
  /** How long a stop waits until an order has been called off. */
  stopMs: 3_000,
  /** From this difference on, the clock is reported as wrong. */
  clockOffsetMs: 300_000,
  /** One that has no room costs an order each time; with other names it is asked for at once. */
  tooLargeMs: 86_400_000,
} as const

export class AcmeKeeper {
  readonly #parts: AcmeKeeperParts
  readonly #holder: string
  readonly #watch: LeaseWatch
  readonly #ending = new AbortController()
  readonly #renewals: RenewalAsker
  #running: Promise<void> | undefined
  /** A certificate that is not stored yet; it counts against the limits of the CA. */
  #unstored: OrderedCertificate | undefined
  #clockOffsetMs: number | null = null
  #saysReplaced = false

  constructor(parts: AcmeKeeperParts) {
    this.#parts = parts
    const { node, instance, entry, clock } = parts
    this.#holder = holderOf(node, entry === '' ? instance : `${instance} ${entry}`)
    this.#watch = new LeaseWatch(clock, keeperLimits.abandonedMs)
    this.#renewals = new RenewalAsker(parts)
  }

  /** True: this node is getting a certificate. */
  get isOrdering(): boolean {
    return this.#running !== undefined
  }

  /** How far the clock of this node is ahead (+) of that of the CA; null: not known. */
  get clockOffsetMs(): number | null {
    return this.#clockOffsetMs
  }

  /**
   * To be called every few seconds. Reads what others did, and begins an order if it is time; does
   * not wait for its end.
   */
  async look(): Promise<void> {
    const { vault, wish, log } = this.#parts
    if (this.#ending.signal.aborted) return
    if (this.#running !== undefined) return this.#beat()
    if (!(await vault.refresh())) return
    if (this.#unstored !== undefined) return this.#store(this.#unstored)
    await this.#parts.solver.withdraw()
    this.#noteReplaced()
    if (!this.#parts.canProve()) return
    this.#renewals.look(this.#ending.signal)
    const why = whyNow(vault.state, wish, vault.nowMs())
    if (why === null || !(await this.#claim())) return
    log.info({ directory: wish.directory, names: wish.names, why }, 'asks for a certificate')
    this.#running = this.#order().finally(() => {
      this.#running = undefined
    })
  }

  async stop(): Promise<void> {
    this.#ending.abort()
    let timer: NodeJS.Timeout | undefined
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, keeperLimits.stopMs)
    })
    await Promise.race([this.#running, patience])
    clearTimeout(timer)
  }

  /** Resolves when no order is under way. */
  async idle(): Promise<void> {
    await this.#running
    await this.#renewals.idle()
  }

  /** @returns false: another node orders, or the database cannot be written */
  async #claim(): Promise<boolean> {
    const { vault, wish } = this.#parts
    const claimed = await vault.change((state) => {
      // Another node may have got a certificate by now.
      if (whyNow(state, wish, vault.nowMs()) === null) return err('it is not time any more')
      if (!this.#mayTake(state)) return err('another node is at it')
      return ok({ ...state, holder: this.#holder, account: this.#accountIn(state) })
    })
    return claimed.ok
  }

  /** Whether no other node orders; an order of an earlier process of this node is over. */
  #mayTake({ holder }: AcmeState): boolean {
    const { vault, node } = this.#parts
    return isFreeFor(node, holder ?? '') || this.#watch.isAbandoned(vault.version)
  }

  /** A sign of the running order, which may take longer than other nodes wait. */
  async #beat(): Promise<void> {
    if (!this.#watch.isBeatDue(keeperLimits.beatMs)) return
    await this.#parts.vault.change((state) =>
      state.holder === this.#holder ? ok({ ...state }) : err('another node is at it'),
    )
  }

  #noteReplaced(): void {
    const { vault, wish, log } = this.#parts
    const reason = replacedFault(vault.state, wish, vault.nowMs())
    if (reason !== null && !this.#saysReplaced) {
      log.warn({ reason }, 'no certificate for these names is asked for yet')
    }
    this.#saysReplaced = reason !== null
  }

  #accountIn({ account }: AcmeState): AcmeAccount {
    const { directory } = this.#parts.wish
    if (account?.directory === directory) return account
    return { directory, key: newPrivateKey() }
  }

  async #order(): Promise<void> {
    const { vault, wish, contact, agreesToTerms, order, solver, clock } = this.#parts
    const { account, certificate, renewal } = vault.state
    assert(account !== null, 'an account was made with the claim')
    const ca = this.#parts.authorities()
    if (!ca.ok) return this.#failed({ code: 'caFile', message: ca.error, retryAfterMs: null })
    const external = this.#parts.externalAccount()
    if (!external.ok) {
      return this.#failed({ code: 'eab', message: external.error, retryAfterMs: null })
    }
    const { signal } = this.#ending
    const { directory, names } = wish
    const nowMs = (): number => clock.nowMs()
    const asked = {
      ...{ directory, names, contact, agreesToTerms, account, ca: ca.value, solver },
      ...{ signal, nowMs, externalAccount: external.value },
      ...{ replaces: replacedBy(wish, certificate, renewal) },
    }
    const { result, clockOffsetMs } = await order(asked)
    this.#noteClock(clockOffsetMs)
    if (result.ok) return this.#store(result.value)
    if (signal.aborted) await vault.change((state) => this.#released(state))
    else await this.#failed(result.error)
  }

  /** Errors: another node has taken the order over; its result stays. */
  #released(state: AcmeState): Result<AcmeState, string> {
    if (state.holder !== this.#holder) return err('another node is at it')
    return ok({ ...state, holder: null, challenges: [] })
  }

  async #store(ordered: OrderedCertificate): Promise<void> {
    const { vault, wish, besides, random, log } = this.#parts
    const issuedAtMs = Math.floor(vault.nowMs())
    const certificate = {
      ...{ ...ordered, ...wish, issuedAtMs },
      renewAtMs: renewAtMs(ordered, issuedAtMs, drawOf(random)),
    }
    const stored = await vault.change((state) => {
      const { certificate: before, pauses } = state
      const released = this.#released(state)
      const isThere = whyAtAll(state, wish, issuedAtMs) === null
      if (!released.ok && isThere) return err('another node has got one meanwhile')
      const isWanted = before !== null && [wish, ...besides].some((one) => isFor(before, one))
      const replaced = isWanted ? null : before
      const after = released.ok ? released.value : state
      const paused = pausesAfterOrder(pauses, wish, replaced, issuedAtMs)
      const beforeEndsMs = before?.notAfterMs ?? null
      const fresh = { certificate, beforeEndsMs, failure: null, renewal: null }
      return ok({ ...after, ...fresh, pauses: paused })
    })
    if (!stored.ok && stored.error.code === 'refused') {
      this.#unstored = undefined
      return log.info({ reason: stored.error.message }, 'a new certificate is not needed any more')
    }
    if (!stored.ok && stored.error.code === 'too-large') {
      this.#unstored = undefined
      const { message } = stored.error
      const retryAfterMs = keeperLimits.tooLargeMs
      return this.#failed({ code: 'badCertificate', message, retryAfterMs })
    }
    if (!stored.ok) {
      this.#unstored = ordered
      const { message } = stored.error
      return log.error({ reason: message }, 'the new certificate cannot be stored yet; tried again')
    }
    this.#unstored = undefined
    const [expires, renewed] = [certificate.notAfterMs, certificate.renewAtMs].map((ms) =>
      new Date(ms).toISOString(),
    )
    log.info({ names: wish.names, expires, renewed }, 'has a new certificate')
  }

  async #failed(problem: CaProblem): Promise<void> {
    const { vault, wish, random, log } = this.#parts
    const { code } = problem
    const message = problem.message.slice(0, acmeStateLimits.messageMax)
    const atMs = Math.floor(vault.nowMs())
    let nextMs = atMs
    await vault.change((state) => {
      const released = this.#released(state)
      if (!released.ok) return released
      const noted = pausesAfterFailure(state.pauses, wish, problem, atMs, drawOf(random))
      nextMs = noted.pause.nextMs
      const failure = { code, message, count: noted.pause.count, atMs, nextMs }
      return ok({ ...released.value, failure, pauses: noted.pauses })
    })
    const { certificate } = vault.state
    const serves =
      certificate === null
        ? 'there is none yet'
        : `the one before serves until ${new Date(certificate.notAfterMs).toISOString()}`
    const again = new Date(nextMs).toISOString()
    log.error({ code, reason: message, again }, `no new certificate; ${serves}`)
  }

  #noteClock(offsetMs: number | null): void {
    if (offsetMs === null) return
    this.#clockOffsetMs = offsetMs
    if (Math.abs(offsetMs) < keeperLimits.clockOffsetMs) return
    this.#parts.log.warn({ offsetMs }, 'the clock of this node is not that of the CA')
  }
}

/** Whether the order of the holder is for this entry; names of nodes have no blanks. */
export const isOrderOf = (holder: string | null, entry: string): boolean =>
  holder !== null && (holder.split(' ')[2] ?? '') === entry

/** The certificate that an order renews, for CAs that know of renewals. */
function replacedBy(
  wish: AcmeWish,
  certificate: AcmeState['certificate'],
  renewal: AcmeState['renewal'],
): string | undefined {
  if (certificate === null || !isFor(certificate, wish)) return undefined
  return renewalOf(renewal, certificate)?.window ? certificate.chain : undefined
}

/** 0 to 1. */
const drawOf = (random: Random): number => random.next() / 0x1_0000_0000
