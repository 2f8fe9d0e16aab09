// A second thread over a routing state: draws members, or rebuilds a pool repeatedly.
import { parentPort, workerData } from 'node:worker_threads'
import { adoptBundle } from '#bundle/load/load.ts'
import { Random } from '#lib/random.ts'
import { rebuildPool } from '#routing/state/candidates.ts'
import { RoutingState } from '#routing/state/state.ts'
import type { RoutingBuffers } from '#routing/state/state.ts'
import { algorithmNamed } from '#routing/choose/ways.ts'
import type { RoutingQuery } from '#routing/state/query.ts'

export interface RoutingWork {
  readonly bundle: Uint8Array
  readonly digest: string
  readonly buffers: RoutingBuffers
  /** Two cells: 0 wait, 1 work, 2 end; and the number of rebuilds so far. */
  readonly signal: SharedArrayBuffer
  readonly task:
    | {
        readonly kind: 'draw'
        readonly algorithm: string
        readonly query: RoutingQuery
        readonly draws: number
      }
    | {
        readonly kind: 'rebuild'
        readonly pool: number
        readonly healthy: readonly (readonly number[])[]
      }
}

const work = workerData as RoutingWork
const bundle = adoptBundle(work.bundle, work.digest)
const state = new RoutingState(bundle, work.buffers)
const signal = new Int32Array(work.signal)
parentPort?.postMessage('ready')
Atomics.wait(signal, 0, 0)
parentPort?.postMessage(work.task.kind === 'draw' ? draw(work.task) : rebuild(work.task))

/** @returns picks of each member */
function draw(task: Extract<RoutingWork['task'], { kind: 'draw' }>): number[] {
  const { plain } = algorithmNamed(task.algorithm)!
  const random = new Random(2)
  const picks = Array<number>(bundle.counts.members).fill(0)
  for (let i = 0; i < task.draws; i++) {
    const member = plain!.select(state, task.query, random)
    picks[member]! += 1
  }
  return picks
}

/** @returns the number of rebuilds */
function rebuild(task: Extract<RoutingWork['task'], { kind: 'rebuild' }>): number {
  const start = bundle.poolMemberStart[task.pool]!
  const size = bundle.poolCount4[task.pool]! + bundle.poolCount6[task.pool]!
  let rebuilds = 0
  while (Atomics.load(signal, 0) === 1) {
    const healthy = task.healthy[rebuilds % task.healthy.length]!
    for (let i = 0; i < size; i++) state.memberHealthy[start + i] = healthy.includes(i) ? 1 : 0
    rebuildPool(bundle, state, task.pool)
    Atomics.store(signal, 1, ++rebuilds)
  }
  return rebuilds
}
