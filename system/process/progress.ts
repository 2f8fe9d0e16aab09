// Says what long work is doing: on a terminal in one line, of which the next line that is printed
// takes the place; elsewhere in a line now and then.

import type { Clock } from '#lib/clock.ts'
import type { After } from '#lib/timer.ts'

/** Starts the line anew, and empties it. */
const erase = '\r\u001B[K'

export interface Progress {
  /** @param doing a few words, such as `reading 40,000 files` */
  readonly say: (doing: string) => void
  /** Takes the line away while something else is printed; its seconds go on. */
  readonly pause: () => void
  /** Writes the line again that `pause` took away. */
  readonly resume: () => void
  /** Takes the line away, if there is one. */
  readonly clear: () => void
}

/** Least time between two lines: people read no faster. */
const apartMs = 200

/**
 * For what is said again and again: the first time, and then not more often than it can be read.
 *
 * @returns takes what makes the words, which is not called in vain
 */
export function spaced(
  say: Progress['say'] | undefined,
  { monotonicMs }: Pick<Clock, 'monotonicMs'>,
): (words: () => string) => void {
  let saidMs = -Infinity
  return (words) => {
    if (say === undefined || monotonicMs() - saidMs < apartMs) return
    saidMs = monotonicMs()
    say(words())
  }
}

/** Work that takes no longer gets no line in a file, and no seconds on a terminal. */
const quietMs = 3_000
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

export function openProgress({ write, isTerminal, clock, after }: ProgressPlace): Progress {
  const { monotonicMs } = clock
  let doing: { readonly words: string; readonly sinceMs: number } | undefined
  let [lineDueMs, isShown] = [Infinity, false]
  let callOff = (): void => undefined
  const show = (): void => {
    if (doing === undefined) return
    const nowMs = monotonicMs()
    const tookMs = nowMs - doing.sinceMs
    const took = tookMs < quietMs ? '' : ` ${Math.floor(tookMs / secondMs)} s`
    if (isTerminal) {
      write(`${erase}${doing.words} …${took}`)
      isShown = true
    } else if (nowMs >= lineDueMs) {
      write(`${doing.words} …${took}\n`)
      lineDueMs = nowMs + linesApartMs
    }
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
    say: (words) => {
      const nowMs = monotonicMs()
      // From the first word on; what blocks the loop is told when the next word comes.
      if (lineDueMs === Infinity) lineDueMs = nowMs + quietMs
      doing = { words, sinceMs: nowMs }
      show()
    },
    clear: () => {
      pause()
      doing = undefined
    },
  }
}
