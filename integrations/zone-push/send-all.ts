// Sends the changes of a plan in requests as large as the target takes; sets of one name stay
// together, and what is refused is tried again in halves.
import { pushLimits } from './limits.ts'
import { ttlChangesOf } from './push-target.ts'
import type { PushTarget, SetChange } from './push-target.ts'
import { keysOf } from './record-sets.ts'

export interface SendResult {
  /** Records that were added and deleted, and those that got another TTL. */
  readonly written: number
  /** Why something was not done, a sentence; empty: all was. */
  readonly fault: string
  /** Keys of records that are not ours any more, or have not become so. */
  readonly disowned: readonly string[]
  /** What was not done; null: nothing was tried. */
  readonly undone: readonly SetChange[] | null
  /** False: it could not be stored what is ours, and nothing was sent. */
  readonly isStored: boolean
}

/** @param owned keys of records that were ours before */
export async function sendAll(
  changes: readonly SetChange[],
  target: PushTarget,
  owned: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<SendResult> {
  const names = [...Map.groupBy(changes, ({ owner }) => owner).values()]
  const waiting = packed(names, target)
  const [done, undone]: [SetChange[], SetChange[]] = [[], []]
  const disowned: string[] = []
  let fault = ''
  let splits = 0
  for (let batch = waiting.shift(); batch !== undefined; batch = waiting.shift()) {
    const sent = await target.send(batch.flat(), signal)
    if (sent.is === 'done') {
      done.push(...batch.flat())
      continue
    }
    if (sent.is === 'refused' && batch.length > 1 && splits < pushLimits.splitsMax) {
      splits++
      const half = batch.length >> 1
      waiting.unshift(batch.slice(0, half), batch.slice(half))
      continue
    }
    const at = sent.is === 'refused' && batch.length === 1 ? ` (at ${batch[0]![0]!.owner})` : ''
    fault ||= `${sent.why}${at}`
    undone.push(...batch.flat())
    if (sent.is !== 'failed') disowned.push(...newKeys(batch.flat(), owned))
    if (sent.is === 'refused') continue
    const left = waiting.splice(0).flat(2)
    undone.push(...left)
    disowned.push(...newKeys(left, owned))
  }
  disowned.push(...keysOf(done.map((one) => ({ ...one, values: one.deletes }))))
  const written = done.reduce((sum, one) => sum + writtenBy(one), 0)
  return { written, fault, disowned, undone, isStored: true }
}

const writtenBy = (change: SetChange): number =>
  change.adds.length + change.deletes.length + ttlChangesOf(change)

/** Keys of records that were to become ours. */
function newKeys(changes: readonly SetChange[], owned: ReadonlySet<string>): readonly string[] {
  const keys = keysOf(changes.map((one) => ({ ...one, values: one.adds })))
  return [...keys].filter((key) => !owned.has(key))
}

/** Names that fit into one request each. One that is too large goes alone. */
function packed(names: readonly SetChange[][], target: PushTarget): SetChange[][][] {
  const batches: SetChange[][][] = []
  let weight = Infinity
  for (const name of names) {
    const more = name.reduce((sum, change) => sum + target.weigh(change), 0)
    if (weight + more > target.weightMax) {
      batches.push([])
      weight = 0
    }
    batches.at(-1)!.push(name)
    weight += more
  }
  return batches
}
