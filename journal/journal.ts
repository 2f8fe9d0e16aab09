// The journal of a node: what answered from when on, and each change of health, weights and
// addresses. It is written behind the node's back: nothing waits for it, and it may fail alone.
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
import { DayAllowance } from '#journal/sides/allowance.ts'
import { writeBuilt, writeSerial } from '#journal/format/changes.ts'
import { KnownColumns, membersKey } from './columns.ts'
import { EntryStream } from '#journal/format/entry-stream.ts'
import type { SealedEntries } from '#journal/format/entry-stream.ts'
import { JournalFile } from './journal-file.ts'
import type { JournalStatus } from './journal-file.ts'
import { journalLimits } from '#journal/format/limits.ts'
import { MeasuredSource } from '#journal/sides/measured-log.ts'
import type { MeasuredTable } from '#journal/sides/measured-log.ts'
import { OctetWriter } from '#journal/format/octets.ts'
import { frame, frameJson, recordBytes, RecordKind, withHead } from '#journal/format/records.ts'
import type { GenerationHead, RecordTimes, SegmentHead } from '#journal/format/records.ts'
import type { OpenSegment } from './segment-files.ts'
import { SideLog } from '#journal/sides/side-log.ts'
import type { SideSource } from '#journal/sides/side-log.ts'
import { leftSince, spentBefore } from './spent-before.ts'
import type { SpentBefore } from './spent-before.ts'
import { TextSource } from '#journal/sides/text-log.ts'
import type { TextsWatch } from '#journal/sides/text-log.ts'

export interface JournalParts {
  readonly directory: string
  /** Octets of all its files together. */
  readonly bytesMax: number
  readonly ageMaxMs: number
  readonly node: string
  readonly version: string
  /** Which health checks the node makes; default: all. */
  readonly checks?: MadeChecks
  readonly clock: Clock
  readonly log: Log
  readonly after?: After
  /** The databases that are loaded now: they are written down when they change. */
  readonly tables?: () => object
  /** Writing waits for it: until then the directory may belong to another process. */
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
  readonly record: Pick<GenerationHead, 'digest' | 'commit' | 'seq' | 'members' | 'checks'>
  known: KnownColumns
  serial: number
  isSettled: boolean
}

/** Hears of changes, which are of the state that the journal follows, or of none. */
export interface StateWatch {
  /** @param isBuilt its lists were built from what the columns are now */
  readonly poolChanged: (state: RoutingState, pool: number, isBuilt: boolean) => void
}

export const watchesNothing: StateWatch = { poolChanged: () => undefined }

/** As metrics call them. */
const sideNames: Readonly<Record<number, string>> = {
  [RecordKind.Measured]: 'measured',
  [RecordKind.Texts]: 'texts',
}

export class Journal implements StateWatch {
  readonly #parts: JournalParts
  readonly #file: JournalFile
  readonly #run = randomUUID()
  #followed: Followed | undefined
  /** Changes of the state that are in no record yet. */
  readonly #changes = new EntryStream(RecordKind.Changes)
  /** What else answers depend on. */
  readonly #sides: SideLog[] = []
  #texts: TextsWatch | null = null
  /** Read when a part is added, and let go with the first segment. null: nothing was there. */
  #before: SpentBefore | null | undefined
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
    const to = this.#open(this.#changes)
    const changed = followed.known.writePool(state, pool, to)
    if (isBuilt) {
      writeBuilt(to, pool)
      this.#unbuilt.delete(pool)
    } else if (changed > 0) this.#unbuilt.add(pool)
  }

  /** What browsers measure is kept, too: each change of the table, from the next segment on. */
  measures(table: MeasuredTable): void {
    const source = new MeasuredSource(table)
    const part = journalLimits.measuredPart
    source.watch(
      this.#side({ name: 'what browsers measured', kind: RecordKind.Measured, part, source }),
    )
  }

  /** TXT records that are written at run time are kept, too. @returns what must hear of them */
  keepsTexts(): TextsWatch {
    const source = new TextSource()
    const part = journalLimits.textsPart
    const name = 'TXT records written at run time'
    source.writesTo(this.#side({ name, kind: RecordKind.Texts, part, source }))
    return (this.#texts = source)
  }

  /** Hears of TXT records; null: the journal does not keep them. */
  get texts(): TextsWatch | null {
    return this.#texts
  }

  #side({
    name,
    kind,
    part,
    source,
  }: {
    readonly name: string
    readonly kind: RecordKind
    readonly part: number
    readonly source: SideSource
  }): SideLog {
    const { bytesMax, ageMaxMs, clock, log } = this.#parts
    const days = Math.max(1, ageMaxMs / 86_400_000)
    const perDay = (bytesMax * part) / days
    const side = new SideLog({
      ...{ name, source, stream: new EntryStream(kind) },
      allowance: new DayAllowance(perDay, clock.monotonicMs, this.#leftOf(kind, perDay)),
      open: (stream) => this.#open(stream),
      warn: (line) => log.warn({}, line),
    })
    this.#sides.push(side)
    return side
  }

  /** Octets that earlier processes left of a day, so that a new start does not grant more. */
  #leftOf(kind: RecordKind, perDay: number): number {
    const { directory, clock } = this.#parts
    if (this.#before === undefined) this.#before = spentBefore(directory) ?? null
    if (this.#before === null) return perDay
    return leftSince(this.#before, { name: sideNames[kind]!, kind, perDay }, clock.nowMs())
  }

  /** Resolves when what has happened until now is on disk, or cannot be. */
  async flush(): Promise<void> {
    this.#seal()
    await this.#file.flush()
  }

  /** The status of the file; `limited`: parts that are left out now. */
  status(): JournalStatus & { readonly limited: Readonly<Record<string, boolean>> } {
    const sides = this.#sides.map(({ stream, isLimited }) => [sideNames[stream.kind], isLimited])
    const limited = Object.fromEntries(sides) as Record<string, boolean>
    return { ...this.#file.status(), limited }
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
      writeSerial(this.#open(this.#changes), serial)
    }
    this.#seal()
    for (const side of this.#sides) {
      for (const payload of side.resume() ?? []) {
        this.#add(frame(side.stream.kind, this.#now(), payload))
      }
    }
    if (this.#areTablesOther()) this.#add(this.#tablesRecord())
    const isQuiet = this.#parts.clock.monotonicMs() - this.#writtenMs >= journalLimits.aliveMs
    if (isQuiet) this.#add(frame(RecordKind.Alive, this.#now(), Buffer.alloc(0)))
    const begins = this.#file.wants(this.#unbuilt.size === 0)
    if (begins !== undefined) this.#begin(followed, begins, true)
    this.#file.flushSoon()
  }

  /** Begins a segment with all that is known: a look at an instant reads this segment alone. */
  #begin(
    followed: Followed,
    begins: Pick<SegmentHead, 'why' | 'lost'>,
    isContinued: boolean,
  ): void {
    const { node, version } = this.#parts
    this.#before = undefined
    const left = Object.fromEntries(
      this.#sides.map((side) => [sideNames[side.stream.kind]!, Math.floor(side.left)]),
    )
    const head: SegmentHead = { format: 1, node, version, run: this.#run, ...begins, left }
    followed.known = new KnownColumns(followed.bundle)
    followed.serial = followed.state.soaSerial[0]!
    this.#writtenMs = this.#parts.clock.monotonicMs()
    this.#areTablesOther()
    // All of it is of one instant: no part of it is known before the others.
    const now = this.#now()
    const sides = this.#sides.flatMap((side) =>
      side.begin().map((payload) => frame(side.stream.kind, now, payload)),
    )
    this.#file.begin([
      frameJson(RecordKind.Head, now, head),
      this.#tablesRecord(now),
      this.#generation(followed, isContinued, now),
      ...sides,
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

  /** Opens a stream for an entry of now. Long records, and a clock that was set, begin another. */
  #open(stream: EntryStream): OctetWriter {
    if (stream.octets.length > journalLimits.segmentBytesMin) this.#seal()
    const now = this.#now()
    if (!stream.isAt(now)) {
      this.#seal()
      stream.isAt(now)
    }
    return stream.octets
  }

  /** Seals all streams, in the order in which they began: a record holds until the next begins. */
  #seal(): void {
    const streams = [this.#changes, ...this.#sides.map(({ stream }) => stream)]
    const sealed = streams.flatMap((stream) => stream.take() ?? [])
    sealed.sort((a, b) => a.times.monotonicMs - b.times.monotonicMs)
    for (const one of sealed) this.#addSealed(one)
    for (const side of this.#sides) {
      const record = sealed.find(({ kind }) => kind === side.stream.kind)
      if (record === undefined || side.spend(record.payload.length + recordBytes)) continue
      const last = side.stream.take()
      if (last !== undefined) this.#addSealed(last)
    }
  }

  #addSealed({ kind, times, payload }: SealedEntries): void {
    this.#add(frame(kind, times, payload))
  }

  #add(record: Buffer): void {
    this.#writtenMs = this.#parts.clock.monotonicMs()
    this.#file.add(record)
  }
}
