// Signs bundles and channel records, and stores each before it is handed over.
import { sharedCopy } from '#lib/memory/copy-for-threads.ts'
import { signChannelRecord } from '#bundle/signature/channel.ts'
import type { ChannelRecord, SigningKey } from '#bundle/signature/channel.ts'
import { signBundle, signerOf } from '#bundle/signature/sign.ts'
import { earlierAfter, stillEarlier } from '#gitops/guard/earlier.ts'
import type { EarlierStates, Succession } from '#gitops/guard/earlier.ts'
import { assert } from '#lib/assert.ts'
import type { Clock } from '#lib/clock.ts'
import type { CompiledBundle } from './compile-port.ts'
import { nextPosition } from './publication.ts'
import type { CommitPublication, Position, ServedPosition } from './publication.ts'
import type { AcceptedCommit } from '#gitops/status/status.ts'
import { saveState } from './stored-state.ts'
import type { StoredState } from './stored-state.ts'

interface PublisherParts {
  readonly state: StoredState
  readonly statePath: string
  readonly resume: ServedPosition | null
  readonly channel: string
  readonly key: SigningKey
  readonly recordTtlMs: number
  /** How many probe agents nodes accept reports of; Infinity: all. */
  readonly agentsMax?: number
  readonly clock: Clock
  readonly handOver: (publication: CommitPublication) => void
}

/** A signed bundle that is not published yet. */
export interface Draft {
  readonly commit: string
  readonly digest: string
  readonly bytes: Uint8Array
}

/** The commit that is accepted together with a draft. */
interface Acceptance {
  readonly signer: string
  /** Number of commits in its history; 0: they could not be counted. */
  readonly serial: number
  readonly tree: string
  /** Which commit it takes the place of; left out: the accepted commit is published again. */
  readonly succession?: Omit<Succession, 'before' | 'tree'>
}

export class Publisher {
  readonly #parts: PublisherParts
  #state: StoredState
  #node: Position | null
  /** The newest bundle, in the memory that the node shares. */
  #bytes: Uint8Array | undefined
  /** When the newest record was signed; 0 when an earlier process signed it. */
  #recordIssuedAtMs = 0
  /** Serial in the newest record. */
  #recordSerial = 0
  #agentsMax: number
  /** The bundle that the node served when this process began. */
  #served: Uint8Array | undefined
  /** True once this process has stored the state. */
  #isSaved = false

  constructor(parts: PublisherParts) {
    this.#parts = parts
    this.#agentsMax = parts.agentsMax ?? Infinity
    this.#state = parts.state
    this.#node = parts.resume
    this.#served = parts.resume?.bundle
    // Only kept here from now on, and dropped once there is a newer bundle.
    if (parts.resume !== null) parts.resume.bundle = undefined
  }

  get accepted(): AcceptedCommit | null {
    const { commit, seq, serial, digest, signer } = this.#state
    return commit === '' ? null : { commit, seq, serial, digest, signer }
  }

  /** Commits that answered before the accepted one. */
  get earlier(): EarlierStates {
    return stillEarlier(this.#state.earlier, this.#nowMs())
  }

  /** The newest bundle and its digest; null before this process has published. */
  get newest(): Pick<Draft, 'bytes' | 'digest'> | null {
    const { digest } = this.#state
    return this.#bytes === undefined ? null : { bytes: this.#bytes, digest }
  }

  sign(commit: string, compiled: CompiledBundle): Draft {
    const bytes = shared(compiled.bytes)
    signBundle(bytes, this.#parts.key)
    return { commit, digest: compiled.digest, bytes }
  }

  /** The stored publication, if the node serves it: it need not be compiled again. */
  get stored(): Pick<StoredState, 'commit' | 'tree' | 'digest'> | undefined {
    const { commit, tree, seq, serial, digest } = this.#state
    const isServed = this.#node?.seq === seq && this.#node.digest === digest
    const bytes = this.#served
    if (bytes === undefined || !isServed || serial === 0) return undefined
    return signerOf(bytes) === this.#parts.key.keyId ? { commit, tree, digest } : undefined
  }

  /** Continues with `stored`, under a new record. */
  resume(): void {
    assert(this.stored !== undefined, 'what is gone on with is served')
    this.#bytes = this.#served
    this.renewWhenDue()
  }

  /**
   * Stores the state once in each process: a disk that refuses is found out before anything is
   * accepted.
   *
   * @throws the file system's error
   */
  save(): void {
    if (!this.#isSaved && this.#state.commit !== '') this.#save(this.#state)
  }

  #save(state: StoredState): void {
    saveState(this.#parts.statePath, state)
    this.#state = state
    this.#isSaved = true
  }

  /**
   * Stores the state first and hands the bundle over second: after a crash between the two, the
   * next start publishes the same digest under the same seq.
   *
   * @throws the file system's error; nothing was handed over then
   */
  publish(draft: Draft, { signer, serial, tree, succession }: Acceptance): void {
    const { seq, previous, isNews } = nextPosition(this.#state, this.#node, draft.digest)
    const { commit, digest } = draft
    const { seq: before, digest: served } = this.#state
    assert(commit !== '', 'what is published was made of a commit')
    assert(seq >= before, 'the numbers of a channel never fall')
    assert(seq > before || digest === served, 'a number of a channel names one bundle')
    assert(seq >= (this.#node?.seq ?? 0), 'nothing is published below what the node runs')
    const facts = { commit, tree, signer, seq, serial, digest, previous }
    this.#save({ ...facts, earlier: this.#earlierAfter(tree, succession) })
    this.#bytes = draft.bytes
    this.#served = undefined
    if (isNews || serial !== this.#recordSerial) this.#handOver(draft.bytes)
    else this.renewWhenDue()
  }

  #earlierAfter(tree: string, succession: Acceptance['succession']): EarlierStates {
    const { earlier, ...before } = this.#state
    if (succession === undefined || before.commit === '') return earlier
    return earlierAfter(earlier, { before, tree, ...succession }, this.#nowMs())
  }

  #nowMs(): number {
    return Math.floor(this.#parts.clock.nowMs())
  }

  /** Renews the record at half of its life: a record that expires raises an alarm on each node. */
  renewWhenDue(): void {
    const ageMs = this.#parts.clock.nowMs() - this.#recordIssuedAtMs
    // A negative age means that the clock was set back; a new record cures that, too.
    const isFresh = ageMs >= 0 && ageMs < this.#parts.recordTtlMs / 2
    if (this.#bytes !== undefined && !isFresh) this.#handOver(this.#bytes)
  }

  /** Signs the record anew, so that nodes learn of the number at once. */
  permitAgents(count: number): void {
    if (count === this.#agentsMax) return
    this.#agentsMax = count
    if (this.#bytes !== undefined) this.#handOver(this.#bytes)
  }

  #handOver(bundle: Uint8Array): void {
    const { commit, seq, serial, digest, previous } = this.#state
    const { channel, key, clock, recordTtlMs, handOver } = this.#parts
    assert(seq > 0, 'the first publication has the number 1')
    assert(bundle.buffer instanceof SharedArrayBuffer, 'a bundle is handed over in shared memory')
    const nowMs = Math.floor(clock.nowMs())
    // A record cannot be older than 1970, where a clock without a battery may stand.
    const issuedAtMs = Math.max(0, nowMs)
    const expiresAtMs = issuedAtMs + recordTtlMs
    const record: ChannelRecord = {
      channel,
      seq,
      ...(serial === 0 ? {} : { serial }),
      digest,
      bytes: bundle.length,
      previous,
      commit,
      ...(this.#agentsMax === Infinity ? {} : { agentsMax: this.#agentsMax }),
      issuedAtMs,
      expiresAtMs,
    }
    this.#recordIssuedAtMs = nowMs
    this.#recordSerial = serial
    this.#node = { seq, digest }
    handOver({ signedRecord: signChannelRecord(record, key), bundle, commit })
  }
}

function shared(bytes: Uint8Array): Uint8Array {
  return bytes.buffer instanceof SharedArrayBuffer ? bytes : sharedCopy(bytes)
}
