// A hook that reads a list page by page as the reader goes on, and holds a bounded part of it.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { isSessionOver, send, sentence } from '../api/client.ts'

/** Rows that are held in the browser. */
export const heldMax = 5_000
/** Typing causes one request, after this pause. */
const pauseMs = 200

interface Held<Row> {
  /** Address of the list; another one begins anew. */
  readonly url: string
  /** Raised by each beginning, also with the same address. */
  readonly round: number
  /** undefined: nothing has arrived yet. */
  readonly rows: readonly Row[] | undefined
  /** Empty: this is the last page. */
  readonly next: string
  readonly fault: string
}

interface Pages<Row> {
  /** Identifies the rows: a view of others begins at the top. */
  readonly key: string
  readonly rows: readonly Row[] | undefined
  /** True: there are more than are held. */
  readonly isMore: boolean
  readonly isAsking: boolean
  readonly fault: string
  readonly more: () => void
  /** Begins again. */
  readonly again: () => void
}

const nothing = { round: 0, rows: undefined, next: '', fault: '' } as const

/** @param url with a query; the first rows of another one take the place of what is there */
export function usePages<Row>(url: string): Pages<Row> {
  const [held, setHeld] = useState<Held<Row>>({ url, ...nothing })
  const [isAsking, setAsking] = useState(false)
  /** Responses to an earlier turn are ignored. */
  const turn = useRef(0)
  const ask = useCallback(async (before: Held<Row>): Promise<void> => {
    const own = ++turn.current
    setAsking(true)
    const { next: cursor } = before
    const address = cursor === '' ? before.url : `${before.url}&cursor=${cursor}`
    const now = await send(address).then(
      ({ body, next }) => {
        const rows = [...(before.rows ?? []), ...(body as readonly Row[])]
        return { ...before, ...{ rows, next, fault: '' } }
      },
      (error: unknown) => ({ ...before, fault: sentence(error) }),
    )
    if (turn.current !== own) return
    setHeld(now)
    setAsking(false)
  }, [])
  const begin = useCallback(
    () => void ask({ url, ...nothing, round: turn.current + 1 }),
    [ask, url],
  )
  const isOver = isSessionOver.value
  useEffect(() => {
    if (isOver) return
    const timer = setTimeout(begin, turn.current === 0 ? 0 : pauseMs)
    return () => clearTimeout(timer)
  }, [begin, isOver])
  useEffect(() => () => void (turn.current = -1), [])
  const { rows, next, fault } = held
  const more = (): void => {
    const isWanted = next !== '' && fault === '' && (rows?.length ?? 0) < heldMax
    if (isWanted && !isAsking && held.url === url) void ask(held)
  }
  return {
    key: `${held.round} ${held.url}`,
    rows,
    isMore: next !== '',
    isAsking,
    fault,
    more,
    again: begin,
  }
}
