// Maintains the licence of this node: its token, trial, revocation and listeners.
import { createHash } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { Clock } from '#lib/clock.ts'
import { Mutex } from '#lib/mutex.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { LicenceRecord, Licences, Trial, TrialKind } from '#state/ports/licences.ts'
import type { SharedSettings } from '#state/ports/settings.ts'
import type { LicenceGate } from './gate.ts'
import type { LicenceAdmin, LicenceRefusal } from './licence-admin.ts'
import type { LicenceServer } from './server.ts'
import { licenceState } from './state.ts'
import type { LicenceState, SourcedToken } from './state.ts'
import { lackOf, tiers, tooManyMembers } from './tiers.ts'
import type { LicenceRates } from './tiers.ts'

/** Settings that SIGHUP may change. */
export interface LicenceOptions {
  /** null: nothing is enforced. */
  readonly vendorKey: KeyObject | null
  /** Empty: none. */
  readonly fileToken: string
  /** Empty: no licence server. */
  readonly serverUrl: string
  readonly refreshIntervalMs: number
  readonly rates: LicenceRates
}

export interface LicenceServiceParts {
  readonly store: Licences
  /** Stores revocations for all nodes and restarts. */
  readonly shared: SharedSettings
  /** True: the database is being made, and no request waits for it. */
  readonly isStarting: () => boolean
  /** GSLB_LICENSE_KEY; empty: none. */
  readonly environmentToken: string
  readonly options: LicenceOptions
  /** 32 random hexadecimal digits, if the installation has no id yet. */
  readonly installIdCandidate: string
  /** The operating system's id of this machine. */
  readonly machineId: string
  /** Number of running nodes, including this one. */
  readonly countNodes: () => number
  readonly server: LicenceServer
  readonly clock: Clock
  readonly log: Log
  /** Called with the permitted queries a second, at each reload as well; 0: no limit. */
  readonly onRate: (perSecond: number) => void
}

const dayMs = 86_400_000
const trialDays: Readonly<Record<TrialKind, number>> = { online: 30, grace: 7, offline: 30 }
/** A key of the shared settings for each token, since a revocation concerns one. */
const revokedKeyOf = (digest: string): string => `license.revoked.${digest}`
const beingMade = 'the database is being made; try again in a few seconds'
/** Follows the name of what is missing. */
const advice = '; apply a licence of a higher tier'

export class LicenceService implements LicenceGate, LicenceAdmin {
  readonly #parts: LicenceServiceParts
  #options: LicenceOptions
  /** null: not read yet. */
  #record: LicenceRecord | null = null
  /** Digest of the token last looked up, if it is revoked; else ''. */
  #revoked = ''
  #state: LicenceState
  /** When `#state` has to be computed again, by the wall clock. */
  #staleAtMs = 0
  #askedAtMs = -Infinity
  #isStoreAway = false
  /** Reads and writes run one after the other, so that no read is older than a write. */
  readonly #mutex = new Mutex()

  constructor(parts: LicenceServiceParts) {
    this.#parts = parts
    this.#options = parts.options
    this.#state = this.#judge()
    this.#tell()
    parts.onRate(rateOf(this.#state))
  }

  get state(): LicenceState {
    if (this.#parts.clock.nowMs() >= this.#staleAtMs) this.#settle()
    return this.#state
  }

  readonly refusal: LicenceGate['refusal'] = (feature) =>
    this.#advised(lackOf(this.state.tier, feature))

  readonly memberLimit: LicenceGate['memberLimit'] = () => {
    const { tier } = this.state
    const membersMax = tiers[tier].membersPerPool
    const refusal = this.#advised(tooManyMembers(tier, membersMax + 1))
    return refusal === undefined ? undefined : { membersMax, refusal }
  }

  readonly current: LicenceAdmin['current'] = async () => {
    const isKnown = this.#record !== null || this.#parts.isStarting()
    if (!isKnown) await this.#mutex.take(() => this.#load())
    this.#settle()
    return this.#state
  }

  readonly apply: LicenceAdmin['apply'] = async (token) => {
    if (this.#parts.isStarting()) return refuse('starting', beingMade)
    return this.#mutex.take(() => this.#apply(token))
  }

  /** Checks everything again; without a vendor key there is nothing to do. */
  readonly refresh = (): Promise<void> =>
    this.#mutex.take(async () => {
      if (this.#options.vendorKey === null) return
      await this.#load()
      await this.#askServer()
      this.#settle()
    })

  readonly reload = (options: LicenceOptions): Promise<void> => {
    this.#options = options
    this.#askedAtMs = -Infinity
    this.#settle(true)
    return this.refresh()
  }

  async #load(): Promise<void> {
    const { store, shared, installIdCandidate } = this.#parts
    const loaded = await store.load(installIdCandidate)
    if (!loaded.ok) return this.#noteAway(loaded.error.message)
    const token = this.#token(loaded.value)
    const digest = token === null ? '' : digestOf(token.text)
    const revoked = await shared.get(revokedKeyOf(digest))
    if (!revoked.ok) return this.#noteAway(revoked.error.message)
    this.#isStoreAway = false
    this.#record = loaded.value
    this.#revoked = revoked.value === true ? digest : ''
    // Without a vendor key there is no trial, whose days must not pass unseen.
    const isOnTrial = this.#options.vendorKey !== null && token === null
    if (isOnTrial && loaded.value.trial === null) await this.#beginTrial(loaded.value)
    this.#settle()
  }

  /** The last known state stays. */
  #noteAway(reason: string): void {
    if (this.#isStoreAway) return
    this.#isStoreAway = true
    this.#parts.log.warn({}, `the licence cannot be read, what was known of it stays: ${reason}`)
  }

  async #beginTrial(record: LicenceRecord): Promise<void> {
    const { store, server, clock, machineId, log } = this.#parts
    const { installId } = record
    const fingerprint = fingerprintOf(machineId, installId)
    const kind = await server.registerTrial(this.#options.serverUrl, { fingerprint, installId })
    const startedAtMs = Math.floor(clock.nowMs())
    const expiresAtMs = startedAtMs + trialDays[kind] * dayMs
    const trial: Trial = { kind, startedAtMs, expiresAtMs }
    const begun = await store.beginTrial(trial)
    if (!begun.ok) return this.#noteAway(begun.error.message)
    this.#record = { ...record, trial: begun.value }
    log.info({ kind: begun.value.kind, days: trialDays[begun.value.kind] }, 'a trial has begun')
  }

  async #apply(token: string): Promise<Result<LicenceState, LicenceRefusal>> {
    if (this.#record === null) await this.#load()
    const record = this.#record
    if (record === null) return refuse('store', 'the database is away; try again later')
    const text = token.trim()
    const judged = this.#judge({ text, source: 'api' }, false)
    if (judged.status !== 'valid') return refuse('token', judged.reason)
    const { store, server, clock, log } = this.#parts
    const verdict = await server.verify(this.#options.serverUrl, text)
    if (verdict === 'revoked' || (verdict === 'unknown' && (await this.#wasRevoked(text)))) {
      return refuse('token', 'the licence server says that the licence is revoked')
    }
    if (verdict === 'valid') await this.#forgive(text)
    const licence = { token: text, source: 'api', savedAtMs: Math.floor(clock.nowMs()) }
    const saved = await store.saveLicence(licence)
    if (!saved.ok) return refuse('store', saved.error.message)
    this.#record = { ...record, licence }
    this.#settle(true)
    const { source } = this.#state
    if (source !== 'api')
      log.warn({ source }, 'a licence was applied, but the one named by source takes precedence')
    return ok(this.#state)
  }

  /** By the server's last answer; a store that is away knows none. */
  async #wasRevoked(text: string): Promise<boolean> {
    const mark = await this.#parts.shared.get(revokedKeyOf(digestOf(text)))
    return mark.ok && mark.value === true
  }

  /** The server has withdrawn the revocation. */
  async #forgive(text: string): Promise<void> {
    const digest = digestOf(text)
    if (this.#revoked === digest) this.#revoked = ''
    await this.#parts.shared.delete(revokedKeyOf(digest))
  }

  async #askServer(): Promise<void> {
    const { clock, server, shared } = this.#parts
    const { serverUrl, refreshIntervalMs } = this.#options
    const token = this.#token()
    const { status } = this.#judge()
    const isAskable = token !== null && (status === 'valid' || status === 'revoked')
    if (serverUrl === '' || !isAskable) return
    const nowMs = clock.monotonicMs()
    if (nowMs - this.#askedAtMs < refreshIntervalMs) return
    this.#askedAtMs = nowMs
    const verdict = await server.verify(serverUrl, token.text)
    if (verdict === 'unknown') return
    const digest = digestOf(token.text)
    const next = verdict === 'revoked' ? digest : ''
    if (next === this.#revoked) return
    this.#revoked = next
    const key = revokedKeyOf(digest)
    const kept = await (verdict === 'revoked'
      ? shared.set(key, true, Math.floor(clock.nowMs()))
      : shared.delete(key))
    // Asks again at once; otherwise the next look at the database would undo the answer.
    if (!kept.ok) this.#askedAtMs = -Infinity
  }

  #isRevoked(token: SourcedToken | null): boolean {
    return token !== null && this.#revoked === digestOf(token.text)
  }

  #advised(lack: string | undefined): string | undefined {
    return lack !== undefined && this.state.enforced ? lack + advice : undefined
  }

  #token(record = this.#record): SourcedToken | null {
    const { environmentToken } = this.#parts
    if (environmentToken !== '') return { text: environmentToken, source: 'environment' }
    const stored = record?.licence ?? null
    if (stored !== null) return { text: stored.token, source: 'api' }
    const { fileToken } = this.#options
    return fileToken === '' ? null : { text: fileToken, source: 'file' }
  }

  #judge(token = this.#token(), isRevoked = this.#isRevoked(token)): LicenceState {
    const { vendorKey, rates } = this.#options
    return licenceState({
      token,
      vendorKey,
      trial: this.#record?.trial ?? null,
      installId: this.#record?.installId ?? null,
      isRevoked,
      nodes: this.#parts.countNodes(),
      rates,
      nowMs: this.#parts.clock.nowMs(),
    })
  }

  /**
   * Computes the state anew, and reports changes.
   *
   * @param isApplied true: the bucket is full after a reload
   */
  #settle(isApplied = false): void {
    const before = this.#state
    this.#state = this.#judge()
    const { expiresAt } = this.#state
    const expiresAtMs = expiresAt * 1_000
    this.#staleAtMs = expiresAtMs > this.#parts.clock.nowMs() ? expiresAtMs : Infinity
    const { status, tier, maxRps, enforced } = this.#state
    const isSame = before.status === status && before.tier === tier && before.maxRps === maxRps
    if (!isSame || before.enforced !== enforced) this.#tell()
    if (isApplied || rateOf(before) !== rateOf(this.#state)) this.#parts.onRate(rateOf(this.#state))
  }

  #tell(): void {
    const { log } = this.#parts
    const { status, tier, maxRps, valid, enforced, reason } = this.#state
    if (!enforced) return
    const write = valid ? log.info : log.warn
    write({ status, tier, maxRps }, `licence: ${reason}`)
  }
}

const rateOf = ({ enforced, maxRps }: LicenceState): number => (enforced ? maxRps : 0)

/** SHA-256 of machine id and install id, cut to 16 octets. */
function fingerprintOf(machineId: string, installId: string): string {
  return createHash('sha256').update(machineId).update(installId).digest('hex').slice(0, 32)
}

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

function refuse(code: LicenceRefusal['code'], message: string): Result<never, LicenceRefusal> {
  return err({ code, message })
}
