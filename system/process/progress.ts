// Shows the progress of long work: the step, the count and the time left. A terminal gets one line
// that the next printed line replaces; other outputs get a line every ten seconds.

import type { Clock } from '#lib/clock.ts'
import type { Tell } from '#lib/log.ts'
import type { After } from '#lib/timer.ts'

/** Moves the cursor to the start of the line and empties the line. */
const erase = '\r\u001B[K'

interface Progress {
  /**
   * Reports progress. It may be called at every step: lines are written only as often as people
   * read.
   */
  readonly say: Tell
  /** Removes the line while something else is printed; the time keeps counting. */
  readonly pause: () => void
  /** Writes the line that `pause` removed. */
  readonly resume: () => void
  /** Removes the line, if there is one. */
  readonly clear: () => void
}

/** Least time between two updates: people read no faster. */
const apartMs = 200

/** Shorter work gets no line in a file, and no seconds on a terminal. */
const quietMs = 2_000
/** Time between two lines where lines stay. */
const linesApartMs = 10_000
const secondMs = 1_000

interface ProgressPlace {
  readonly write: (text: string) => void
  /** True: one line is rewritten. False, as in a log of CI: lines stay, so few are written. */
  readonly isTerminal: boolean
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly after: After
}

interface Doing {
  readonly words: string
  readonly sinceMs: number
  readonly done: number | undefined
  readonly all: number | undefined
}

export function openProgress({ write, isTerminal, clock, after }: ProgressPlace): Progress {
  const { monotonicMs } = clock
  let doing: Doing | undefined
  let [lineDueMs, shownMs, isShown] = [Infinity, -Infinity, false]
  let callOff = (): void => undefined
  const show = (): void => {
    if (doing === undefined) return
    const nowMs = monotonicMs()
    // The first formatted number takes 20 ms, because Node loads its rules of languages then.
    if (isTerminal) {
      write(erase + lineOf(doing, nowMs))
      isShown = true
    } else if (nowMs >= lineDueMs) {
      write(`${lineOf(doing, nowMs)}\n`)
      lineDueMs = nowMs + linesApartMs
    }
    shownMs = nowMs
    callOff()
    callOff = after(secondMs, show)
  }
  const pause = (): void => {
    callOff()
    if (isShown) write(erase)
    isShown = false
  }
  return {
    pause,
    resume: show,
    say: (words, done, all) => {
      const nowMs = monotonicMs()
      // The time runs from the first report; work that blocks the loop is shown at its next report.
      if (lineDueMs === Infinity) lineDueMs = nowMs + quietMs
      // A count that starts from its beginning has taken no time so far.
      const isCount =
        doing?.words === words && doing.all === all && (doing.done ?? 0) <= (done ?? 0)
      doing = { words, sinceMs: isCount ? doing!.sinceMs : nowMs, done, all }
      if (!isCount || nowMs - shownMs >= apartMs) show()
    },
    clear: () => {
      pause()
      doing = undefined
    },
  }
}

function lineOf({ words, sinceMs, done, all }: Doing, nowMs: number): string {
  const tookMs = nowMs - sinceMs
  const count = done === undefined ? '' : ` ${counted(done)}`
  const ofAll = all === undefined ? '' : ` of ${counted(all)}`
  const line = `${words}${count}${ofAll} …`
  if (tookMs < quietMs) return line
  const took = `${line} ${Math.floor(tookMs / secondMs)} s`
  if (done === undefined || all === undefined) return took
  // The rest is assumed to be as fast as the work so far.
  const leftMs = (tookMs / done) * (all - done)
  return `${took}, ${counted(Math.ceil(leftMs / secondMs))} s left`
}

const counted = (count: number): string => count.toLocaleString('en')
