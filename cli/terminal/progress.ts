// One line on a terminal that says what long work is doing; the next line that is printed takes its
// place.

import type { Clock } from '#lib/clock.ts'

/** Starts the line anew, and empties it. */
const erase = '\r\u001B[K'

export interface Progress {
  /** @param doing a few words, such as `reading 40,000 files` */
  readonly say: (doing: string) => void
  /** Takes the line away, if there is one. */
  readonly clear: () => void
}

/** Nobody reads faster. */
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

/** @param isTerminal of the stream: what is no terminal gets nothing */
export function openProgress(write: (text: string) => void, isTerminal: boolean): Progress {
  if (!isTerminal) return { say: () => undefined, clear: () => undefined }
  let isShown = false
  return {
    say: (doing) => {
      isShown = true
      write(`${erase}${doing} …`)
    },
    clear: () => {
      if (isShown) write(erase)
      isShown = false
    },
  }
}
