// Writes to standard output and error; a closed pipe or a full disk does not end the process.

/** The part of `process.stdout` that is used. */
interface OutletStream {
  readonly write: (text: string, done: (error?: Error | null) => void) => unknown
  readonly on: (event: 'error', listener: (error: Error) => void) => unknown
}

interface Outlet {
  readonly write: (text: string) => void
  /**
   * Texts that were lost since the last call, once one was written again; else 0. The log calls it
   * before each line.
   */
  readonly takeLost: () => number
  /** Why the last text was lost; undefined: it was not, or its reader has left. */
  readonly fault: () => Error | undefined
}

/** Handles the errors of a stream, which would otherwise end the process. */
export function openOutlet(stream: OutletStream): Outlet {
  let lost = 0
  let failure: Error | undefined
  // Each failed write reports to its callback as well, which counts it.
  stream.on('error', () => undefined)
  return {
    write: (text) => {
      stream.write(text, (error) => {
        failure = error ?? undefined
        if (failure !== undefined) lost++
      })
    },
    takeLost: () => {
      if (failure !== undefined) return 0
      const count = lost
      lost = 0
      return count
    },
    fault: () =>
      (failure as NodeJS.ErrnoException | undefined)?.code === 'EPIPE' ? undefined : failure,
  }
}
