// Keeps the journal of a node: which bundle was active when, and each change of health, weights and
// addresses. Nothing waits for it, and it may fail by itself.
import { randomUUID } from 'node:crypto'
import type { Bundle } from '#bundle/format/bundle.ts'
import { probedPools } from '#bundle/load/probed-pools.ts'
import type { MadeChecks } from '#bundle/load/probed-pools.ts'
import type { ChannelRecord } from '#bundle/signature/channel.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { systemAfter } from '#lib/timer.ts'
import type { After } from '#lib/timer.ts'
import type { RoutingState } from '#routing/state/state.ts'
import { writeBuilt, writeSerial } from '#journal/format/changes.ts'
import { KnownColumns, membersKey } from './columns.ts'
import { EntryStream } from '#journal/format/entry-stream.ts'
import { JournalFile } from './journal-file.ts'
import type { JournalStatus } from './journal-file.ts'
import { journalLimits } from '#journal/format/limits.ts'
import { OctetWriter } from '#journal/format/octets.ts'
import { frame, frameJson, RecordKind, withHead } from '#journal/format/records.ts'
import type { GenerationHead, RecordTimes, SegmentHead } from '#journal/format/records.ts'
import type { OpenSegment } from './segment-files.ts'

export interface JournalParts {
  readonly directory: string
  /** Octets of all files together. */
  readonly bytesMax: number
  readonly ageMaxMs: number
  readonly node: string
  readonly version: string
  /** Which health checks the node makes; default: all. */
  readonly checks?: MadeChecks
  readonly clock: Clock
  readonly log: Log
  readonly after?: After
  /** The databases in use, which are recorded when they change. */
  readonly tables?: () => object
  /** Resolves when the directory is this process's; nothing is written before. */
  readonly mayWrite?: Promise<unknown>
  readonly openSegment?: OpenSegment
  /** Octets that may wait for the disk; default `journalLimits.queueBytesMax`. */
  readonly queueBytesMax?: number
  /** Octets of a segment; default `journalLimits.segmentBytesMin`. */
  readonly segmentBytesMin?: number
}

interface Followed {
  readonly bundle: Bundle
  readonly state: RoutingState
  readonly record: Pick<GenerationHead, 'digest' | 'commit' | 'seq' | 'members' | 'checks'>
  known: KnownColumns
  serial: number
  isSettled: boolean
}

/** Receives changes of the state that the journal follows; others are ignored. */
export interface StateWatch {
  /** @param isBuilt true: its lists were built from the current columns */
  readonly poolChanged: (state: RoutingState, pool: number, isBuilt: boolean) => void
}

export const watchesNothing: StateWatch = { poolChanged: () => undefined }

export class Journal implements StateWatch {
  readonly #parts: JournalParts
  readonly #file: JournalFile
  readonly #run = randomUUID()
  #followed: Followed | undefined
  /** Changes that are in no record yet. */
  readonly #changes = new EntryStream()
  /** Pools whose lists are older than their columns. */
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

  /**
   * To be called when this bundle becomes active: changes of this state are recorded from now on.
   */
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
    const { checks = 'all' } = this.#parts
    const members = membersKey(bundle, probedPools(bundle, checks))
    this.#followed = {
      ...{ bundle, state, known, serial, isSettled: false },
      record: { digest, commit, seq, members, checks },
    }
    this.#unbuilt.clear()
    const begins = this.#file.wants(true)
    if (begins === undefined) this.#add(this.#generation(this.#followed, false))
    else this.#begin(this.#followed, begins, false)
  }

  /** To be called when every thread answers from it. */
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
    const to = this.#open()
    const changed = followed.known.writePool(state, pool, to)
    if (isBuilt) {
      writeBuilt(to, pool)
      this.#unbuilt.delete(pool)
    } else if (changed > 0) this.#unbuilt.add(pool)
  }

  /** Resolves when everything until now is on disk, or cannot be. */
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
      writeSerial(this.#open(), serial)
    }
    this.#seal()
    if (this.#areTablesOther()) this.#add(this.#tablesRecord())
    const isQuiet = this.#parts.clock.monotonicMs() - this.#writtenMs >= journalLimits.aliveMs
    if (isQuiet) this.#add(frame(RecordKind.Alive, this.#now(), Buffer.alloc(0)))
    const begins = this.#file.wants(this.#unbuilt.size === 0)
    if (begins !== undefined) this.#begin(followed, begins, true)
    this.#file.flushSoon()
  }

  /** Begins a segment with the whole state, so that an instant needs this segment alone. */
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
    // All of it belongs to one instant.
    const now = this.#now()
    this.#file.begin([
      frameJson(RecordKind.Head, now, head),
      this.#tablesRecord(now),
      this.#generation(followed, isContinued, now),
      ...(followed.isSettled ? [frame(RecordKind.Settled, now, Buffer.alloc(0))] : []),
    ])
  }

  #generation(
    { bundle, state, record, known, serial }: Followed,
    isContinued: boolean,
    now = this.#now(),
  ): Buffer {
    const columns = new OctetWriter(4_096)
    for (let pool = 0; pool < bundle.counts.pools; pool++) known.writePool(state, pool, columns)
    const head: GenerationHead = { ...record, serial, isContinued }
    return frame(RecordKind.Generation, now, withHead(head, columns.take()))
  }

  #areTablesOther(): boolean {
    const before = this.#tables
    this.#tables = JSON.stringify(this.#parts.tables?.() ?? {})
    return this.#tables !== before
  }

  #tablesRecord(now = this.#now()): Buffer {
    return frame(RecordKind.Tables, now, Buffer.from(this.#tables))
  }

  #now(): RecordTimes {
    const { clock } = this.#parts
    return { wallMs: clock.nowMs(), monotonicMs: clock.monotonicMs() }
  }

  /** Continues the record now; begins another after much, or when a clock was set. */
  #open(): OctetWriter {
    const stream = this.#changes
    if (stream.octets.length > journalLimits.segmentBytesMin) this.#seal()
    const now = this.#now()
    if (!stream.isAt(now)) {
      this.#seal()
      stream.isAt(now)
    }
    return stream.octets
  }

  #seal(): void {
    const sealed = this.#changes.take()
    if (sealed === undefined) return
    this.#add(frame(RecordKind.Changes, sealed.times, sealed.payload))
  }

  #add(record: Buffer): void {
    this.#writtenMs = this.#parts.clock.monotonicMs()
    this.#file.add(record)
  }
}
