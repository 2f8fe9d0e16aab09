// Pauses in which nothing is ordered: after a failure, and for names that were replaced by others.
// Pure; all control nodes keep them, by the clock of the database.
import { hash } from 'node:crypto'
import { backoffMs } from '#lib/backoff.ts'
import type { AcmePause } from './acme-state.ts'
import { acmeStateLimits } from './acme-state.ts'

export interface AcmeWish {
  readonly directory: string
  /** Lower case, without a final dot, in the order of the settings. */
  readonly names: readonly string[]
}

export const pauseLimits = {
  /** Let's Encrypt takes five wrong proofs of a name in an hour. */
  failures: { firstMs: 120_000, mostMs: 6 * 3_600_000 },
  /** For a CA that limits rates without a time. */
  limited: { firstMs: 3_600_000, mostMs: 24 * 3_600_000 },
  /** Longer than a change of the settings of all control nodes takes. */
  replaced: { firstMs: 1_800_000, mostMs: 24 * 3_600_000 },
  /** Longer pauses of a CA count as this. */
  retryAfterMaxMs: 7 * 86_400_000,
  /** Limited rates may be those of the account: for so long no other names are asked for. */
  limitedOthersMs: 3_600_000,
  /** After it the first of a row is the first again: two control nodes may take turns each day. */
  rowMs: 4 * 86_400_000,
  /** A pause that is so far in the future was noted by a clock that was wrong. */
  skewMs: 300_000,
} as const

/** The same for the same names in any order. */
export const wishMark = ({ directory, names }: AcmeWish): string =>
  hash('sha256', JSON.stringify([directory, names.toSorted()]))

/** Pauses noted by a clock that was ahead do not hold. */
const isLasting = ({ atMs, nextMs }: AcmePause, nowMs: number): boolean =>
  nowMs < nextMs && nowMs >= atMs - pauseLimits.skewMs

/** True: nothing is asked for; also where more are noted than can be told apart. */
export function isPausing(pauses: readonly AcmePause[], wish: AcmeWish, nowMs: number): boolean {
  const mark = wishMark(wish)
  const lasting = pauses.filter((pause) => isLasting(pause, nowMs))
  const holds = ({ why, atMs, ...of }: AcmePause): boolean =>
    of.wish === mark ||
    (why === 'limited' &&
      of.directory === wish.directory &&
      nowMs < atMs + pauseLimits.limitedOthersMs)
  return lasting.length >= acmeStateLimits.pausesMax || lasting.some(holds)
}

/** When what was replaced may be asked for again; null: at once. */
export function replacedUntilMs(
  pauses: readonly AcmePause[],
  wish: AcmeWish,
  nowMs: number,
): number | null {
  const mark = wishMark(wish)
  const found = pauses.find(
    (pause) => pause.wish === mark && pause.why === 'replaced' && isLasting(pause, nowMs),
  )
  return found?.nextMs ?? null
}

/** @param draw 0 to 1: nodes of others that failed at the same time come back one by one */
export function pausesAfterFailure(
  pauses: readonly AcmePause[],
  wish: AcmeWish,
  problem: { readonly code: string; readonly retryAfterMs: number | null },
  atMs: number,
  draw: number,
): { readonly pauses: readonly AcmePause[]; readonly pause: AcmePause } {
  const why = problem.code === 'rateLimited' ? 'limited' : 'failed'
  const mark = wishMark(wish)
  const isBefore = (pause: AcmePause) => pause.wish === mark && pause.why !== 'replaced'
  const count = (pauses.find(isBefore)?.count ?? 0) + 1
  const nextMs = atMs + pauseMs(problem, count, draw)
  const { directory } = wish
  const pause: AcmePause = { wish: mark, directory, why, count, atMs, nextMs }
  const others = pauses.filter((one) => !isBefore(one))
  return { pause, pauses: withNew(pause, others) }
}

/**
 * Control nodes with different settings would order in turns without end.
 *
 * @param replaced in the place of whose certificate this one came; null: of none, or its own
 */
export function pausesAfterOrder(
  pauses: readonly AcmePause[],
  wish: AcmeWish,
  replaced: AcmeWish | null,
  atMs: number,
): readonly AcmePause[] {
  const own = wishMark(wish)
  const others = pauses.filter((pause) => pause.wish !== own || pause.why === 'replaced')
  if (replaced === null) return others
  const mark = wishMark(replaced)
  const isBefore = (pause: AcmePause) => pause.wish === mark && pause.why === 'replaced'
  const before = others.find(isBefore)
  const isRow = before !== undefined && Math.abs(atMs - before.atMs) < pauseLimits.rowMs
  const count = isRow ? before.count + 1 : 1
  const nextMs = atMs + backoffMs(pauseLimits.replaced, count)
  const { directory } = replaced
  const pause: AcmePause = { wish: mark, directory, why: 'replaced', count, atMs, nextMs }
  return withNew(
    pause,
    others.filter((one) => !isBefore(one)),
  )
}

function withNew(pause: AcmePause, others: readonly AcmePause[]): readonly AcmePause[] {
  const newest = others.toSorted((a, b) => b.atMs - a.atMs)
  return [pause, ...newest.slice(0, acmeStateLimits.pausesMax - 1)]
}

/**
 * @param failures in a row, from 1
 * @param draw 0 to 1
 */
function pauseMs(
  { code, retryAfterMs }: { readonly code: string; readonly retryAfterMs: number | null },
  failures: number,
  draw: number,
): number {
  const { limited, failures: others, retryAfterMaxMs } = pauseLimits
  const ownMs = backoffMs(code === 'rateLimited' ? limited : others, failures)
  const saidMs = Math.min(retryAfterMs ?? 0, retryAfterMaxMs)
  return Math.ceil(Math.max(ownMs, saidMs) * (1 + draw / 10))
}
