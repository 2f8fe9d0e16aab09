// One line on a terminal that says what long work is doing; the next line that is printed takes its
// place.

/** Starts the line anew, and empties it. */
const erase = '\r\u001B[K'

export interface Progress {
  /** @param doing a few words, such as `reading 40,000 files` */
  readonly say: (doing: string) => void
  /** Takes the line away, if there is one. */
  readonly clear: () => void
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
