// A journal under a clock moved by hand, with a changing state and its value at each look.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bundle } from '#bundle/format/bundle.ts'
import type { BundleModel } from '#bundle/format/model.ts'
import { Journal } from '#journal/journal.ts'
import type { JournalParts } from '#journal/journal.ts'
import { findMoment, segmentsIn } from '#journal/moment.ts'
import type { Gap, Moment } from '#journal/moment.ts'
import { replayState } from '#journal/replay.ts'
import { carryRoutingState, createRoutingState, rebuildPool } from '#routing/state/candidates.ts'
import { firstCandidate, PoolCell } from '#routing/state/state.ts'
import type { RoutingState } from '#routing/state/state.ts'
import { bareModel, bundleOf, pool, service, zone } from './bundle-models.ts'
import { FakeTime } from './fake-time.ts'

export const journalEpochMs = Date.UTC(2027, 2, 1)

/** Two pools of three members each; `commit` distinguishes bundles. */
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

/** The state that answers depend on, in a comparable form. */
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
}

function copyOfState(bundle: Bundle, state: RoutingState): StateCopy {
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
  bundle: Bundle | undefined
  state: RoutingState | undefined
  #seq = 0

  constructor(parts: Partial<JournalParts> = {}) {
    this.#parts = parts
    this.journal = this.open()
  }

  /** Opens the journal as a starting process does. */
  open(): Journal {
    const note = (_fields: object, message: string): void => void this.lines.push(message)
    return (this.journal = new Journal({
      directory: this.directory,
      bytesMax: 64 * 1_048_576,
      ageMaxMs: 30 * 86_400_000,
      node: 'n1',
      version: '0',
      clock: this.time.clock,
      after: this.time.after,
      log: { info: note, warn: note, error: note },
      ...this.#parts,
    }))
  }

  /** Swaps to a bundle as a node does, at once in all threads. */
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

  copy(): StateCopy {
    return copyOfState(this.bundle!, this.state!)
  }

  async find(atMs: number): Promise<Moment | Gap> {
    await this.journal.flush()
    return findMoment(segmentsIn(this.directory), atMs)
  }

  /** The state for an instant according to the journal; or the reason why there is none. */
  async at(atMs: number): Promise<StateCopy | string> {
    const found = await this.find(atMs)
    return found.kind === 'gap' ? found.why : this.replayed(found)
  }

  replayed(moment: Moment): StateCopy | string {
    const bundle = this.bundles.get(moment.generation.digest)!
    const state = replayState(bundle, moment)
    if (!state.ok) return state.error
    return copyOfState(bundle, state.value)
  }

  async remove(): Promise<void> {
    await this.journal.stop()
    rmSync(this.directory, { recursive: true, force: true })
  }
}
