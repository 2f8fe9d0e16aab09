// The certificates of an ACME server on a control node: a view of the database in memory, and a
// sealed copy on the disk. Each change is a compare-and-swap, so that one node alone orders.
import type { Clock } from '#lib/clock.ts'
import { Mutex } from '#lib/mutex.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { seal, unseal } from '#lib/secret-box.ts'
import type { CertificateStore } from '#state/ports/certificates.ts'
import type { StoreFailure } from '#state/ports/store-result.ts'
import {
  acmeStateLimits,
  certificatesIn,
  emptyState,
  printState,
  readState,
  seenFrom,
  withCertificate,
  writtenFrom,
} from './acme-state.ts'
import type { AcmeState } from './acme-state.ts'
import { isOlder } from './renewal.ts'
import type { CertificateCopy } from './certificate-copy.ts'

interface CertificateVaultParts {
  readonly store: CertificateStore
  readonly copy: CertificateCopy
  /** 32 octets of GSLB_SECRET_KEY. */
  readonly secretKey: Uint8Array
  readonly clock: Pick<Clock, 'nowMs'>
  readonly log: Log
}

interface CertificateFault {
  /** `refused`: the change itself says why not. */
  readonly code: 'refused' | 'too-large' | 'contended' | 'unreadable' | StoreFailure['code']
  readonly message: string
}

type Change = (before: AcmeState) => Result<AcmeState, string>
type Changed = Promise<Result<AcmeState, CertificateFault>>

/** One of the certificates, as if it were the only one. */
export interface OneCertificate {
  readonly state: AcmeState
  readonly version: number
  readonly fault: string | null
  readonly nowMs: () => number
  readonly refresh: () => Promise<boolean>
  readonly change: (change: Change) => Changed
}

/** Each lost race is another node that has done something. */
const triesMax = 5

export class CertificateVault {
  readonly #parts: CertificateVaultParts
  readonly #handlers = new Set<(state: AcmeState) => void>()
  #state: AcmeState = emptyState
  /** -1: the database was not read yet. */
  #version = -1
  #fault: string | null = null
  #isAway = false
  /** True: the certificate in use is newer than that of the database. */
  #isAhead = false
  /** How far the clock of the database is ahead (+) of that of this node. */
  #databaseAheadMs = 0
  readonly #mutex = new Mutex()

  constructor(parts: CertificateVaultParts) {
    this.#parts = parts
  }

  /** Takes what the copy has: the database may be away, and is opened later. */
  start(): void {
    this.#state = this.#parts.copy.read() ?? emptyState
  }

  get state(): AcmeState {
    return this.#state
  }

  /** Rises with each change of any node; -1: not known yet. */
  get version(): number {
    return this.#version
  }

  /** A sentence why the stored state cannot be used; null: it can. */
  get fault(): string | null {
    return this.#fault
  }

  /**
   * By the clock of the database, since control nodes compare what each of them has noted; by that
   * of the node until it was read.
   */
  nowMs(): number {
    return this.#parts.clock.nowMs() + this.#databaseAheadMs
  }

  onChange(handler: (state: AcmeState) => void): void {
    this.#handlers.add(handler)
  }

  /** Takes what other nodes have written. @returns false: it cannot be read */
  refresh(): Promise<boolean> {
    return this.#mutex.take(async () => {
      if ((await this.#look()) !== null) return false
      if (this.#isAhead) await this.#change((state) => ok(state))
      return true
    })
  }

  /** Durable, and in force on this node, when it resolves. */
  change(change: Change): Changed {
    return this.#mutex.take(() => this.#change(change))
  }

  /** @param entry of `acme.certificates`; '': that of `acme.names` */
  of(entry: string): OneCertificate {
    const vault = (): this => this
    return {
      get state() {
        return seenFrom(vault().state, entry)
      },
      get version() {
        return vault().version
      },
      get fault() {
        return vault().fault
      },
      nowMs: () => this.nowMs(),
      refresh: () => this.refresh(),
      change: async (change) => {
        const changed = await this.change((whole) => {
          const after = change(seenFrom(whole, entry))
          return after.ok ? ok(writtenFrom(whole, entry, after.value, this.nowMs())) : after
        })
        return changed.ok ? ok(seenFrom(changed.value, entry)) : changed
      },
    }
  }

  async #change(change: Change): Changed {
    const { store, secretKey, clock } = this.#parts
    for (let tries = 0; tries < triesMax; tries++) {
      if (tries > 0 || this.#version === -1 || this.#fault !== null) {
        const fault = await this.#look()
        if (fault !== null) return err(fault)
      }
      const after = change(this.#state)
      if (!after.ok) return err({ code: 'refused', message: after.error })
      const text = printState(after.value)
      if (text.length > acmeStateLimits.textMax)
        return err({ code: 'too-large', message: tooLarge })
      const sealed = seal(secretKey, text)
      const swapped = await store.swap(this.#version, sealed, Math.floor(clock.nowMs()))
      if (swapped.ok) {
        this.#isAhead = false
        this.#take(after.value, swapped.value)
        return ok(after.value)
      }
      const { code, message } = swapped.error
      if (code !== 'changed-meanwhile') return err({ code, message })
      this.#version = -1
    }
    const message = `The certificate was changed by others ${triesMax} times meanwhile.`
    return err({ code: 'contended', message })
  }

  /** @returns null: what the store has is known */
  async #look(): Promise<CertificateFault | null> {
    const { store, secretKey, clock, log } = this.#parts
    const loaded = await store.load()
    if (!loaded.ok) {
      const { code, message } = loaded.error
      if (!this.#isAway) log.warn({ reason: message }, 'the certificate stays as it is')
      this.#isAway = true
      return { code, message }
    }
    this.#isAway = false
    this.#databaseAheadMs = Math.round(loaded.value.nowMs - clock.nowMs())
    const { version, sealed } = loaded.value.stored ?? { version: 0, sealed: null }
    if (version === this.#version && this.#fault === null) return null
    // A new database gets the certificate in use with the next change.
    if (sealed === null) {
      this.#version = 0
      this.#fault = null
      return null
    }
    const opened = unseal(secretKey, sealed)
    const read = opened.ok ? readState(opened.value) : err(otherKey)
    if (!read.ok) {
      if (this.#fault === null) log.error({ reason: read.error }, unusable)
      this.#fault = read.error
      return { code: 'unreadable', message: read.error }
    }
    const kept = this.#kept(read.value)
    this.#isAhead = kept !== read.value
    this.#take(kept, version)
    return null
  }

  /** A restored older database does not take a valid certificate away. */
  #kept(state: AcmeState): AcmeState {
    const { clock, log } = this.#parts
    let kept = state
    for (const [entry, { certificate: own }] of certificatesIn(this.#state)) {
      if (own === null || clock.nowMs() >= own.notAfterMs) continue
      const { certificate } = seenFrom(state, entry)
      if (certificate !== null && !isOlder(certificate, own)) continue
      const { names } = own
      log.warn(
        { names },
        'the certificate in the database is older than the one in use, which stays',
      )
      kept = withCertificate(kept, entry, own)
    }
    return kept
  }

  #take(state: AcmeState, version: number): void {
    this.#fault = null
    this.#version = version
    this.#state = state
    this.#parts.copy.write(state)
    for (const handler of this.#handlers) handler(state)
  }
}

const tooLarge =
  'the certificates of acme are too large together; write fewer names, or take one away'
const unusable = 'the certificate in the database cannot be used'
const otherKey =
  'the certificate and the account of acme were stored under another GSLB_SECRET_KEY: set it to ' +
  'that one on this node, and start it again'
