// A hook that reads a list page by page as the reader goes on, and holds a bounded part of it.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { isSessionOver, send, sentence } from '../api/client.ts'

/** Rows in the memory of the browser. */
export const heldMax = 5_000
/** A reader who types causes one request, after this pause. */
const pauseMs = 200

interface Held<Row> {
  /** What was asked for; another address begins anew. */
  readonly url: string
  /** Which beginning it is: also of the same address again. */
  readonly round: number
  /** undefined: nothing has come yet. */
  readonly rows: readonly Row[] | undefined
  /** Empty: this is the end. */
  readonly next: string
  readonly fault: string
}

interface Pages<Row> {
  /** Says which rows these are: the view of other rows begins at their top. */
  readonly key: string
  readonly rows: readonly Row[] | undefined
  /** There is more than what is held. */
  readonly isMore: boolean
  readonly isAsking: boolean
  readonly fault: string
  readonly more: () => void
  /** From the beginning. */
  readonly again: () => void
}

const nothing = { round: 0, rows: undefined, next: '', fault: '' } as const

/** @param url with a query; the first rows of another one take the place of what is there */
export function usePages<Row>(url: string): Pages<Row> {
  const [held, setHeld] = useState<Held<Row>>({ url, ...nothing })
  const [isAsking, setAsking] = useState(false)
  /** What comes for an older turn is late. */
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
