// A journal under a clock moved by hand: a state that is changed, and what it was at each look.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bundle } from '#bundle/format/bundle.ts'
import type { BundleModel } from '#bundle/format/model.ts'
import { Journal } from '#journal/journal.ts'
import type { JournalParts } from '#journal/journal.ts'
import { findMoment, segmentsIn } from '#journal/moment.ts'
import type { Gap, Moment } from '#journal/moment.ts'
import { measuredThen, textsThen } from '#journal/sides/sides-then.ts'
import { replayState } from '#journal/replay.ts'
import { rumNetworkText } from '#inputs/rum/rum-networks.ts'
import { RumStore } from '#inputs/rum/rum-store.ts'
import { wordsOfUid } from '#routing/rum/targets.ts'
import { carryRoutingState, createRoutingState, rebuildPool } from '#routing/state/candidates.ts'
import { firstCandidate, PoolCell } from '#routing/state/state.ts'
import type { RoutingState } from '#routing/state/state.ts'
import type { StoredTxtRecord } from '#state/ports/dynamic-dns.ts'
import { bareModel, bundleOf, pool, service, zone } from './bundle-models.ts'
import { FakeTime } from './fake-time.ts'

export const journalEpochMs = Date.UTC(2027, 2, 1)

/** Two pools of three members each; `commit` tells bundles apart. */
export function journalModel(commit: string, parts: Partial<BundleModel> = {}): BundleModel {
  return {
    ...bareModel,
    commit,
    zones: [zone('test.')],
    pools: [
      pool(1, ['192.0.2.1', '192.0.2.2', '192.0.2.3']),
      pool(2, ['198.51.100.1', '198.51.100.2', '2001:db8::1']),
    ],
    services: [service(1, 'one.test.'), service(2, 'two.test.', { pool: 1 })],
    ...parts,
  }
}

/** What answers depend on, in a form that can be compared. */
export interface StateCopy {
  readonly digest: string
  readonly serial: number
  readonly healthy: readonly number[]
  readonly score: readonly number[]
  readonly rttMs: readonly number[]
  readonly weight: readonly number[]
  readonly out: readonly number[]
  /** By pool and family: members in the order of the list. */
  readonly lists: readonly (readonly number[])[]
  /** By network and uid: codes of averages; or why they are not known. */
  readonly measured: Readonly<Record<string, number>> | string
  /** TXT records, each as one text, in order; or why they are not known. */
  readonly texts: readonly string[] | string
}

export function copyOfState(
  bundle: Bundle,
  state: RoutingState,
): Omit<StateCopy, 'measured' | 'texts'> {
  const lists: number[][] = []
  for (let row = 0; row < bundle.counts.pools; row++) {
    const copy = state.pools[row * PoolCell.Words + PoolCell.Version]! & 1
    for (const family of [0, 1]) {
      const first = firstCandidate(state, row, copy, family)
      const count = state.pools[row * PoolCell.Words + PoolCell.Count + copy * 2 + family]!
      lists.push([...state.candidates.subarray(first, first + count)])
    }
  }
  return {
    digest: bundle.digest,
    serial: state.soaSerial[0]!,
    healthy: [...state.memberHealthy],
    score: [...state.memberScore],
    rttMs: [...state.memberRttMs],
    weight: [...state.memberWeight],
    out: [...state.memberOut],
    lists,
  }
}

export class JournalScene {
  readonly time = new FakeTime(journalEpochMs)
  readonly directory = mkdtempSync(join(tmpdir(), 'gslbd-journal-'))
  readonly lines: string[] = []
  readonly bundles = new Map<string, Bundle>()
  readonly #parts: Partial<JournalParts>
  journal: Journal
  /** What browsers measure, of the process. */
  rum: RumStore
  /** TXT records that threads answer, by id. */
  #texts = new Map<string, StoredTxtRecord>()
  bundle: Bundle | undefined
  state: RoutingState | undefined
  #seq = 0
  #revision = 0

  constructor(parts: Partial<JournalParts> = {}) {
    this.#parts = parts
    this.rum = new RumStore(this.time.clock)
    this.journal = this.open()
  }

  /** As a process that starts. */
  open(): Journal {
    this.openOlder()
    this.rum = new RumStore(this.time.clock)
    this.journal.measures(this.rum)
    this.journal.keepsTexts()
    this.#texts.clear()
    return this.journal
  }

  /** As one of a version that kept less. */
  openOlder(): void {
    const note = (_fields: object, message: string): void => void this.lines.push(message)
    this.journal = new Journal({
      directory: this.directory,
      bytesMax: 64 * 1_048_576,
      ageMaxMs: 30 * 86_400_000,
      node: 'n1',
      version: '0',
      clock: this.time.clock,
      after: this.time.after,
      log: { info: note, warn: note, error: note },
      ...this.#parts,
    })
  }

  /** As a node does that swaps to a bundle; all threads have adopted it at once. */
  swap(model: BundleModel): void {
    const bundle = bundleOf(model)
    const serial = ++this.#seq
    this.state =
      this.bundle === undefined
        ? createRoutingState(bundle, serial)
        : carryRoutingState({ bundle: this.bundle, state: this.state! }, bundle, serial)
    this.bundle = bundle
    this.bundles.set(bundle.digest, bundle)
    const { digest } = bundle
    this.journal.serves({ digest, commit: model.commit, seq: serial }, bundle, this.state)
    this.journal.settled()
  }

  /** Writes a member's columns as the health link does; then the lists of its pool. */
  change(member: number, write: (state: RoutingState) => void, isBuilt = true): void {
    const { bundle, state } = this
    write(state!)
    const pool = bundle!.memberPool[member]!
    if (isBuilt) rebuildPool(bundle!, state!, pool)
    this.journal.poolChanged(state!, pool, isBuilt)
  }

  /** A member goes up or down. */
  flip(member: number): void {
    this.change(member, (state) => (state.memberHealthy[member] = 1 - state.memberHealthy[member]!))
  }

  /** Browsers of a network report how fast they reach a member. */
  measure(network: number, member: number, latencyMs: number): void {
    const client = Uint8Array.of(network >>> 16, network >>> 8, network, 1)
    this.rum.record(client, wordsOfUid(this.bundle!, member), latencyMs)
  }

  /** TXT records begin and end to be answered. */
  write(added: readonly StoredTxtRecord[], removed: readonly string[] = []): void {
    this.changeTexts(added, removed)()
  }

  /** They are stored. @returns what makes threads answer them */
  changeTexts(added: readonly StoredTxtRecord[], removed: readonly string[] = []): () => void {
    const revision = ++this.#revision
    this.journal.texts?.changed({ revision, added, removed })
    return () => {
      for (const id of removed) this.#texts.delete(id)
      for (const record of added) this.#texts.set(record.id, record)
      this.journal.texts?.served(revision)
    }
  }

  copy(): StateCopy {
    const measured = [...this.rum.averages()].map(({ network, uid, code }) => {
      return [
        `${rumNetworkText(network)} ${Buffer.from(uid.buffer).toString('hex')}`,
        code,
      ] as const
    })
    return {
      ...copyOfState(this.bundle!, this.state!),
      measured: Object.fromEntries(measured.sort()),
      texts: textsOf(this.#texts.values()),
    }
  }

  async find(atMs: number): Promise<Moment | Gap> {
    await this.journal.flush()
    return findMoment(segmentsIn(this.directory), atMs)
  }

  /** The state that the journal has for an instant; or why it has none. */
  async at(atMs: number): Promise<StateCopy | string> {
    const found = await this.find(atMs)
    return found.kind === 'gap' ? found.why : this.replayed(found)
  }

  replayed(moment: Moment): StateCopy | string {
    const bundle = this.bundles.get(moment.generation.digest)!
    const state = replayState(bundle, moment)
    if (!state.ok) return state.error
    return {
      ...copyOfState(bundle, state.value),
      measured: measuredAt(moment),
      texts: textsAt(moment),
    }
  }

  async remove(): Promise<void> {
    await this.journal.stop()
    rmSync(this.directory, { recursive: true, force: true })
  }
}

function measuredAt(moment: Moment): StateCopy['measured'] {
  const then = measuredThen(moment.measured)
  if (then.kind === 'unkept') return then.why
  const codes = then.value.flatMap((network) =>
    [...network.averages].map(
      ([uid, code]) => [`${rumNetworkText(network)} ${uid}`, code] as const,
    ),
  )
  return Object.fromEntries(codes.sort())
}

function textsAt(moment: Moment): StateCopy['texts'] {
  const then = textsThen(moment.texts)
  return then.kind === 'unkept' ? then.why : textsOf(then.value)
}

/** In any order, and whatever their ids are. */
const textsOf = (records: Iterable<StoredTxtRecord>): readonly string[] =>
  [...records].map(({ id: _, ...record }) => JSON.stringify(Object.entries(record).sort())).sort()
