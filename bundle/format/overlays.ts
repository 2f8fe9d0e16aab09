// Layout of rollouts and maintenance windows in a bundle: rows with an owner, and canonical JSON,
// validated when it is read.
import { textOf, uidOf } from './bundle.ts'
import type { BundleColumns } from './bundle.ts'
import { RolloutCell, WindowCell } from './cells.ts'
import { bundleLimits } from './limits.ts'
import type { RolloutModel, WindowModel } from './model.ts'
import { parseJson } from '#lib/text/json.ts'

type RolloutText = Omit<RolloutModel, 'pool' | 'member'>
interface WindowText extends Omit<WindowModel, 'pool' | 'member' | 'members'> {
  readonly members?: readonly string[]
}

/** A rollout of a checked bundle. */
export interface Rollout extends RolloutText {
  /** Indices. */
  readonly pool: number
  readonly member: number
}

export interface MaintenanceWindow extends Omit<WindowText, 'members'> {
  readonly pool: number
  /** -1: all members of the pool. */
  readonly member: number
  /** Rows of the members held out; null: all that `pool` and `member` select. */
  readonly held: readonly number[] | null
}

export interface Overlays {
  readonly rollouts: readonly Rollout[]
  readonly windows: readonly MaintenanceWindow[]
}

/** The time-dependent part of a bundle. Its texts are parsed on each call. */
export function overlaysOf(bundle: BundleColumns): Overlays {
  const { rolloutRow, windowRow, memberPool } = bundle
  const rollouts: Rollout[] = []
  for (let at = 0; at < rolloutRow.length; at += RolloutCell.Words) {
    const member = rolloutRow[at + RolloutCell.Member]!
    const text = parseRollout(textOf(bundle, rolloutRow[at + RolloutCell.Text]!))
    if (text !== undefined) rollouts.push({ ...text, member, pool: memberPool[member]! })
  }
  const windows: MaintenanceWindow[] = []
  for (let at = 0; at < windowRow.length; at += WindowCell.Words) {
    const pool = windowRow[at + WindowCell.Pool]!
    const member = windowRow[at + WindowCell.Member]! - 1
    const text = parseWindow(textOf(bundle, windowRow[at + WindowCell.Text]!))
    if (text === undefined) continue
    const { members, ...rest } = text
    windows.push({ ...rest, pool, member, held: heldRows(bundle, pool, members) })
  }
  return { rollouts, windows }
}

/** All rows of a host name have its uid. A removed member has no row. */
function heldRows(
  bundle: BundleColumns,
  pool: number,
  members: readonly string[] | undefined,
): readonly number[] | null {
  if (members === undefined) return null
  const uids = new Set(members)
  const start = bundle.poolMemberStart[pool]!
  const end = start + bundle.poolCount4[pool]! + bundle.poolCount6[pool]!
  const rows: number[] = []
  for (let row = start; row < end; row++) {
    if (uids.has(uidOf(bundle.memberUid, row))) rows.push(row)
  }
  return rows
}

type Fits = (value: unknown) => boolean
type Fields<T> = Readonly<Record<keyof T, Fits>>

const isNumber = (value: unknown): value is number =>
  Number.isFinite(value) && (value as number) >= 0
const isCount: Fits = (value) => isNumber(value) && Number.isSafeInteger(value)
const atMost =
  (max: number): Fits =>
  (value) =>
    isCount(value) && (value as number) <= max
/** The last instant of the year 9999. */
const isInstant = atMost(253_402_300_799_999)
const isText: Fits = (value) => typeof value === 'string' && value.length <= 1_000
const isUid: Fits = (value) => typeof value === 'string' && /^[0-9a-f-]{36}$/.test(value)
const isListOf =
  (max: number, fits: Fits): Fits =>
  (value) =>
    Array.isArray(value) && value.length <= max && value.every(fits)

const isStep = shaped<RolloutText['steps'][number]>({
  weightPct: atMost(bundleLimits.weightPctMax),
  holdSeconds: atMost(0x7fff_ffff),
})
const intents: ReadonlySet<unknown> = new Set<RolloutText['intents'][number]['intent']>([
  'pause',
  'promote',
  'abort',
])
const isIntent = shaped<RolloutText['intents'][number]>({
  intent: (value) => intents.has(value),
  atMs: isInstant,
})
const isPolicy = shaped<RolloutText['regressionPolicy']>({
  minHealthScore: isNumber,
  minHealthyMembers: isCount,
  maxRttDeltaMs: isNumber,
})
const isRollout = shaped<RolloutText>({
  uid: isUid,
  name: isText,
  tenant: isText,
  baseWeight: atMost(bundleLimits.weightMax),
  startAtMs: isInstant,
  steps: (value) => isListOf(bundleLimits.stepsMax, isStep)(value) && (value as []).length > 0,
  regressionPolicy: isPolicy,
  intents: (value) => isListOf(bundleLimits.intentsMax, isIntent)(value) && isInOrder(value),
})
const isWindow = shaped<WindowText>({
  uid: isUid,
  name: isText,
  tenant: isText,
  startAtMs: isInstant,
  endAtMs: isInstant,
  members: (value) => value === undefined || isListOf(bundleLimits.membersPerPoolMax, isUid)(value),
})

function shaped<T>(fields: Fields<T>): Fits {
  const rows = Object.entries<Fits>(fields)
  return (value) => {
    if (typeof value !== 'object' || value === null) return false
    return rows.every(([name, fits]) => fits((value as Record<string, unknown>)[name]))
  }
}

function isInOrder(value: unknown): boolean {
  const list = value as RolloutText['intents']
  return list.every(({ atMs }, i) => i === 0 || list[i - 1]!.atMs <= atMs)
}

/** @returns undefined when the text is not a rollout of this version */
export function parseRollout(text: string): RolloutText | undefined {
  const value = parseJson(text)
  return isRollout(value) ? (value as RolloutText) : undefined
}

/** @returns undefined when the text is not a window of this version */
export function parseWindow(text: string): WindowText | undefined {
  const value = parseJson(text)
  if (!isWindow(value)) return undefined
  const window = value as WindowText
  return window.startAtMs < window.endAtMs ? window : undefined
}

/** @returns the first fault as half a sentence; requires checked texts and members */
export function checkOverlays(c: BundleColumns): string | undefined {
  const { rolloutRow, windowRow, memberPool, poolName } = c
  const texts = c.stringOffset.length - 1
  const counts = [
    ['rollouts', rolloutRow.length / RolloutCell.Words, bundleLimits.rolloutsMax],
    ['windows', windowRow.length / WindowCell.Words, bundleLimits.windowsMax],
  ] as const
  for (const [what, count, max] of counts) {
    if (count > max) return `it has ${count} ${what}, the limit is ${max}`
  }
  for (let at = 0; at < rolloutRow.length; at += RolloutCell.Words) {
    const row = at / RolloutCell.Words
    const text = rolloutRow[at + RolloutCell.Text]!
    if (rolloutRow[at + RolloutCell.Member]! >= memberPool.length) {
      return `rollout ${row} points outside its table`
    }
    if (text >= texts || parseRollout(textOf(c, text)) === undefined) {
      return `rollout ${row} is none that this version can follow`
    }
  }
  for (let at = 0; at < windowRow.length; at += WindowCell.Words) {
    const row = at / WindowCell.Words
    const pool = windowRow[at + WindowCell.Pool]!
    const member = windowRow[at + WindowCell.Member]! - 1
    const text = windowRow[at + WindowCell.Text]!
    const isInPool = member < 0 || memberPool[member] === pool
    if (pool >= poolName.length || !isInPool) return `window ${row} points outside its table`
    if (text >= texts || parseWindow(textOf(c, text)) === undefined) {
      return `window ${row} is none that this version can keep`
    }
  }
  return undefined
}
