// Says what long work is doing, how far it is and how long it still takes: on a terminal in one
// line, of which the next line that is printed takes the place; elsewhere in a line now and then.

import type { Clock } from '#lib/clock.ts'
import type { Tell } from '#lib/log.ts'
import type { After } from '#lib/timer.ts'

/** Starts the line anew, and empties it. */
const erase = '\r\u001B[K'

export interface Progress {
  /** What is counted may be told as often as it changes: it is written as often as people read. */
  readonly say: Tell
  /** Takes the line away while something else is printed; its seconds go on. */
  readonly pause: () => void
  /** Writes the line again that `pause` took away. */
  readonly resume: () => void
  /** Takes the line away, if there is one. */
  readonly clear: () => void
}

/** Least time between two lines: people read no faster. */
const apartMs = 200

/** Work that takes no longer gets no line in a file, and no seconds on a terminal. */
const quietMs = 2_000
/** Between two lines where a line stays. */
const linesApartMs = 10_000
const secondMs = 1_000

export interface ProgressPlace {
  readonly write: (text: string) => void
  /** True: one line is rewritten. False, as in a log of a CI: lines stay, so there are few. */
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
    // The first number that is printed takes 20 ms: Node loads how languages write them.
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
      // From the first word on; what blocks the loop is told when the next word comes.
      if (lineDueMs === Infinity) lineDueMs = nowMs + quietMs
      // What is counted from its start again took no time until now.
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
  // As fast as until now.
  const leftMs = (tookMs / done) * (all - done)
  return `${took}, ${counted(Math.ceil(leftMs / secondMs))} s left`
}

const counted = (count: number): string => count.toLocaleString('en')
