// Says how a round ended, in a bounded form that is stored and shown.
import type { Noted, PushPlan } from './plan.ts'
import { ttlChangeKey, ttlChangesOf } from './push-target.ts'
import type { PushReport } from './push-state.ts'
import type { SendResult } from './send-all.ts'

interface RoundEnd {
  readonly plan: PushPlan
  readonly sent: SendResult
  readonly held: PushReport['held']
  readonly atMs: number
  readonly fault: string
}

const reportLimits = {
  notesMax: 20,
  noteCharactersMax: 300,
  faultCharactersMax: 600,
} as const

const nothing: PushReport = Object.freeze({
  ...{ atMs: 0, fault: '', held: null, plan: '', adds: 0, deletes: 0, same: 0 },
  ...{
    ttlChanges: 0,
    missing: 0,
    foreign: 0,
    conflicts: 0,
    skipped: 0,
    writtenAtMs: 0,
    written: 0,
    notes: [],
    taken: [],
  },
})

/** @param before of the round before; null: there was none */
export function reportOf(before: PushReport | null, end?: RoundEnd): PushReport {
  const { written, writtenAtMs } = before ?? nothing
  if (end === undefined) return before ?? nothing
  const { plan, sent, held, atMs, fault } = end
  const left = sent.undone ?? plan.changes
  const adds = left.reduce((sum, one) => sum + one.adds.length, 0)
  const ttlChanges = left.reduce((sum, one) => sum + ttlChangesOf(one), 0)
  return {
    ...{ atMs, held, fault: fault.slice(0, reportLimits.faultCharactersMax) },
    plan: left.length === plan.changes.length && left.length > 0 ? plan.digest : '',
    ...{ adds, ttlChanges },
    deletes: left.reduce((sum, { deletes }) => sum + deletes.length, 0),
    same: plan.same + plan.adds + plan.ttlChanges - adds - ttlChanges,
    missing: plan.missing,
    foreign: plan.foreign.reduce((sum, { values }) => sum + values.length, 0),
    ...{ conflicts: plan.conflicts.length, skipped: plan.skipped.length },
    writtenAtMs: sent.written > 0 ? atMs : writtenAtMs,
    written: written + sent.written,
    taken: takenOf(end),
    notes: [...plan.conflicts, ...plan.skipped].slice(0, reportLimits.notesMax).map(noteOf),
  }
}

function takenOf({ plan, sent: { undone } }: RoundEnd): readonly string[] {
  if (undone === null) return plan.notTaken
  const left = new Set(undone)
  const done = plan.changes.filter((one) => !left.has(one))
  return [...plan.notTaken, ...done.flatMap((one) => ttlChangeKey(one) ?? [])]
}

const noteOf = ({ owner, type, why }: Noted): string =>
  `${owner} ${type}: ${why}`.slice(0, reportLimits.noteCharactersMax)
