// A hook that reads something of the API, and reads it again when the configuration changes.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { isSessionOver, mayPass, sentence } from './client.ts'
import { commits } from './live.ts'

export interface Loaded<T> {
  /** The last good value, also while a newer one is loading or has failed. */
  readonly value: T | undefined
  /** A sentence; empty: there is none. */
  readonly fault: string
  readonly reload: () => void
}

/** Pause after a failure. */
const faultMs = 5_000

/**
 * @param key identifies what is read; another key begins anew
 *
 * @param everyMs interval of further reads; 0: only after a change or a fault
 */
export function useLoad<T>(key: string, load: () => Promise<T>, everyMs = 0): Loaded<T> {
  const [state, setState] = useState<{ key: string; value: T | undefined; fault: string }>({
    ...{ key, value: undefined, fault: '' },
  })
  const latest = useRef(load)
  latest.current = load
  const [turn, setTurn] = useState(0)
  const now = commits.value
  const isOver = isSessionOver.value
  useEffect(() => {
    if (isOver) return
    let isCurrent = true
    let again: ReturnType<typeof setTimeout> | undefined
    let isAsking = false
    const ask = (): void => {
      // A browser has few connections to a node: what is slow must not take all of them.
      if (isAsking) return
      isAsking = true
      latest.current().then(
        (value) => {
          isAsking = false
          if (isCurrent) setState({ key, value, fault: '' })
        },
        (error: unknown) => {
          isAsking = false
          if (!isCurrent) return
          setState((before) => ({
            ...{ key, value: before.key === key ? before.value : undefined },
            fault: sentence(error),
          }))
          if (everyMs === 0 && mayPass(error)) again = setTimeout(ask, faultMs)
        },
      )
    }
    ask()
    const timer = everyMs === 0 ? undefined : setInterval(ask, everyMs)
    return () => {
      isCurrent = false
      clearInterval(timer)
      clearTimeout(again)
    }
  }, [key, turn, now, isOver, everyMs])
  const reload = useCallback(() => setTurn((count) => count + 1), [])
  const isOther = state.key !== key
  return { value: isOther ? undefined : state.value, fault: isOther ? '' : state.fault, reload }
}

/** The first fault of several reads, and another try of all. */
export const together = (
  ...all: readonly Loaded<unknown>[]
): Pick<Loaded<unknown>, 'fault' | 'reload'> => ({
  fault: all.find(({ fault }) => fault !== '')?.fault ?? '',
  reload: () => {
    for (const { reload } of all) reload()
  },
})
