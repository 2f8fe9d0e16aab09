// The journal of a node: what answered from when on, and each change of health, weights and
// addresses. It is written behind the node's back: nothing waits for it, and it may fail alone.
import { randomUUID } from 'node:crypto'
import type { Bundle } from '#bundle/format/bundle.ts'
import type { ChannelRecord } from '#bundle/signature/channel.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { systemAfter } from '#lib/timer.ts'
import type { After } from '#lib/timer.ts'
import type { RoutingState } from '#routing/state/state.ts'
import { writeBuilt, writeSerial, writeTime } from './changes.ts'
import { KnownColumns, membersKey } from './columns.ts'
import { JournalFile } from './journal-file.ts'
import type { JournalStatus } from './journal-file.ts'
import { journalLimits } from './limits.ts'
import { OctetWriter } from './octets.ts'
import { frame, frameJson, RecordKind, withHead } from './records.ts'
import type { GenerationHead, RecordTimes, SegmentHead } from './records.ts'
import type { OpenSegment } from './segment-files.ts'

export interface JournalParts {
  readonly directory: string
  /** Octets of all its files together. */
  readonly bytesMax: number
  readonly ageMaxMs: number
  readonly node: string
  readonly version: string
  readonly clock: Clock
  readonly log: Log
  readonly after?: After
  /** The databases that are loaded now: they are written down when they change. */
  readonly tables?: () => object
  /** Nothing is written before: the directory may be another process's until then. */
  readonly mayWrite?: Promise<unknown>
  readonly openSegment?: OpenSegment
  /** Octets that may wait for the disk; default `journalLimits.queueBytesMax`. */
  readonly queueBytesMax?: number
  /** A segment may have this many; default `journalLimits.segmentBytesMin`. */
  readonly segmentBytesMin?: number
}

interface Followed {
  readonly bundle: Bundle
  readonly state: RoutingState
  readonly record: Pick<GenerationHead, 'digest' | 'commit' | 'seq' | 'members'>
  known: KnownColumns
  serial: number
  isSettled: boolean
}

/** What tells a journal of changes. They are of the state that it follows, or of none. */
export interface StateWatch {
  /** @param isBuilt its lists were built from what the columns are now */
  readonly poolChanged: (state: RoutingState, pool: number, isBuilt: boolean) => void
}

export const watchesNothing: StateWatch = { poolChanged: () => undefined }

export class Journal implements StateWatch {
  readonly #parts: JournalParts
  readonly #file: JournalFile
  readonly #run = randomUUID()
  #followed: Followed | undefined
  /** Changes that are no record yet. */
  readonly #changes = new OctetWriter(4_096)
  #changesFrom: RecordTimes | undefined
  /** Whole milliseconds after `#changesFrom` of the last entry. */
  #lastMs = 0
  /** Pools whose columns are ahead of their lists. */
  readonly #unbuilt = new Set<number>()
  #tables = ''
  #writtenMs = 0
  #callOff: (() => void) | undefined
  #isStopped = false

  constructor(parts: JournalParts) {
    this.#parts = parts
    this.#file = new JournalFile(parts)
    this.#arm()
  }

  /** From now on this bundle answers, and changes of this state are written down. */
  serves(
    record: Pick<ChannelRecord, 'digest' | 'commit' | 'seq'>,
    bundle: Bundle,
    state: RoutingState,
  ): void {
    if (this.#isStopped) return
    this.#seal()
    const serial = state.soaSerial[0]!
    const known = new KnownColumns(bundle)
    const { digest, commit, seq } = record
    this.#followed = {
      ...{ bundle, state, known, serial, isSettled: false },
      record: { digest, commit, seq, members: membersKey(bundle) },
    }
    this.#unbuilt.clear()
    const begins = this.#file.wants(true)
    if (begins === undefined) this.#add(this.#generation(this.#followed, false))
    else this.#begin(this.#followed, begins, false)
  }

  /** Every thread answers from it. */
  settled(): void {
    const followed = this.#followed
    if (followed === undefined || followed.isSettled) return
    followed.isSettled = true
    this.#seal()
    this.#add(frame(RecordKind.Settled, this.#now(), Buffer.alloc(0)))
  }

  poolChanged(state: RoutingState, pool: number, isBuilt: boolean): void {
    const followed = this.#followed
    if (followed?.state !== state || this.#isStopped) return
    this.#writeTime()
    const changed = followed.known.writePool(state, pool, this.#changes)
    if (isBuilt) {
      writeBuilt(this.#changes, pool)
      this.#unbuilt.delete(pool)
    } else if (changed > 0) this.#unbuilt.add(pool)
    if (this.#changes.length > journalLimits.segmentBytesMin) this.#seal()
  }

  /** Resolves when what has happened until now is on disk, or cannot be. */
  async flush(): Promise<void> {
    this.#seal()
    await this.#file.flush()
  }

  status(): JournalStatus {
    return this.#file.status()
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#callOff?.()
    this.#seal()
    if (this.#followed !== undefined) {
      this.#add(frame(RecordKind.Stop, this.#now(), Buffer.alloc(0)))
    }
    await this.#file.close()
  }

  #arm(): void {
    const { after = systemAfter } = this.#parts
    this.#callOff = after(journalLimits.flushMs, () => {
      this.#look()
      if (!this.#isStopped) this.#arm()
    })
  }

  #look(): void {
    const followed = this.#followed
    if (followed === undefined) return
    const serial = followed.state.soaSerial[0]!
    if (serial !== followed.serial) {
      followed.serial = serial
      this.#writeTime()
      writeSerial(this.#changes, serial)
    }
    this.#seal()
    if (this.#areTablesOther()) this.#add(this.#tablesRecord())
    const isQuiet = this.#parts.clock.monotonicMs() - this.#writtenMs >= journalLimits.aliveMs
    if (isQuiet) this.#add(frame(RecordKind.Alive, this.#now(), Buffer.alloc(0)))
    const begins = this.#file.wants(this.#unbuilt.size === 0)
    if (begins !== undefined) this.#begin(followed, begins, true)
    this.#file.flushSoon()
  }

  /** With all that is known: whoever looks at an instant reads this segment alone. */
  #begin(
    followed: Followed,
    begins: Pick<SegmentHead, 'why' | 'lost'>,
    isContinued: boolean,
  ): void {
    const { node, version } = this.#parts
    const head: SegmentHead = { format: 1, node, version, run: this.#run, ...begins }
    followed.known = new KnownColumns(followed.bundle)
    followed.serial = followed.state.soaSerial[0]!
    this.#writtenMs = this.#parts.clock.monotonicMs()
    this.#areTablesOther()
    this.#file.begin([
      frameJson(RecordKind.Head, this.#now(), head),
      this.#tablesRecord(),
      this.#generation(followed, isContinued),
      ...(followed.isSettled ? [frame(RecordKind.Settled, this.#now(), Buffer.alloc(0))] : []),
    ])
  }

  #generation({ bundle, state, record, known, serial }: Followed, isContinued: boolean): Buffer {
    const columns = new OctetWriter(4_096)
    for (let pool = 0; pool < bundle.counts.pools; pool++) known.writePool(state, pool, columns)
    const head: GenerationHead = { ...record, serial, isContinued }
    return frame(RecordKind.Generation, this.#now(), withHead(head, columns.take()))
  }

  #areTablesOther(): boolean {
    const before = this.#tables
    this.#tables = JSON.stringify(this.#parts.tables?.() ?? {})
    return this.#tables !== before
  }

  #tablesRecord(): Buffer {
    return frame(RecordKind.Tables, this.#now(), Buffer.from(this.#tables))
  }

  #now(): RecordTimes {
    const { clock } = this.#parts
    return { wallMs: clock.nowMs(), monotonicMs: clock.monotonicMs() }
  }

  /** The entries that follow are of now. A clock that was set begins another record. */
  #writeTime(): void {
    const now = this.#now()
    const from = this.#changesFrom
    if (from !== undefined) {
      const passedMs = now.monotonicMs - from.monotonicMs
      const drift = Math.abs(now.wallMs - from.wallMs - passedMs)
      if (drift <= journalLimits.driftMs) {
        const ms = Math.max(this.#lastMs, Math.floor(passedMs))
        if (ms > this.#lastMs) writeTime(this.#changes, ms - this.#lastMs)
        this.#lastMs = ms
        return
      }
      this.#seal()
    }
    this.#changesFrom = now
    this.#lastMs = 0
  }

  #seal(): void {
    const from = this.#changesFrom
    if (from === undefined) return
    this.#changesFrom = undefined
    const changes = this.#changes.take()
    if (changes.length > 0) this.#add(frame(RecordKind.Changes, from, changes))
  }

  #add(record: Buffer): void {
    this.#writtenMs = this.#parts.clock.monotonicMs()
    this.#file.add(record)
  }
}
