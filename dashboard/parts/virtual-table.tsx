// A table of which only the rows in view are in the page: ten thousand cost no more than fifty.
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { go } from './location.ts'

export interface Column<T> {
  readonly name: string
  readonly show: (row: T) => ComponentChildren
  /** Left out at phone width. */
  readonly isExtra?: boolean
  readonly isNumber?: boolean
}

interface TableProps<T> {
  readonly name: string
  readonly columns: readonly Column<T>[]
  readonly rows: readonly T[]
  readonly keyOf: (row: T, index: number) => string
  /** Where a row leads, as a path. */
  readonly leadsTo?: (row: T) => string
  /** The last rows are in view, or will be soon. */
  readonly onEnd?: () => void
}

const rowPixels = 44
const beyond = 8
const fewRows = 60

export function Table<T>({ name, columns, rows, keyOf, leadsTo, onEnd }: TableProps<T>) {
  const box = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ first: 0, last: fewRows })
  const isLong = rows.length > fewRows
  const look = (): void => {
    const element = box.current
    if (element === null || !isLong) return
    const first = Math.max(0, Math.floor(element.scrollTop / rowPixels) - beyond)
    const shown = Math.ceil(element.clientHeight / rowPixels) + 2 * beyond
    if (first + shown + beyond >= rows.length) onEnd?.()
    setView((before) =>
      before.first === first && before.last === first + shown
        ? before
        : { first, last: first + shown },
    )
  }
  useLayoutEffect(look, [rows.length])
  const first = isLong ? Math.min(view.first, Math.max(0, rows.length - 1)) : 0
  const last = isLong ? Math.min(rows.length, Math.max(view.last, first + 1)) : rows.length
  const gap = (count: number): { height: string } => ({ height: `${count * rowPixels}px` })
  return (
    <div
      class={`table-box${isLong ? ' long' : ''}`}
      ref={box}
      onScroll={look}
      tabIndex={0}
      role="group"
      aria-label={name}
    >
      <table aria-rowcount={rows.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((column) => (
              <th key={column.name} scope="col" class={classOf(column)}>
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {first > 0 && <tr aria-hidden="true" style={gap(first)} />}
          {rows.slice(first, last).map((row, i) => (
            <Row
              key={keyOf(row, first + i)}
              {...{ row, columns, position: first + i + 2 }}
              {...(leadsTo === undefined ? {} : { path: leadsTo(row) })}
            />
          ))}
          {last < rows.length && <tr aria-hidden="true" style={gap(rows.length - last)} />}
        </tbody>
      </table>
    </div>
  )
}

const classOf = <T,>({ isExtra, isNumber }: Column<T>): string =>
  `${isExtra === true ? 'extra' : ''} ${isNumber === true ? 'number' : ''}`.trim()

interface RowProps<T> {
  readonly row: T
  readonly columns: readonly Column<T>[]
  readonly position: number
  readonly path?: string
}

/** A click anywhere leads on; the keyboard has the link in the first column. */
function Row<T>({ row, columns, position, path }: RowProps<T>) {
  const follow = (event: MouseEvent): void => {
    if ((event.target as Element).closest('a, button, input, select, label') !== null) return
    if (path !== undefined && String(getSelection()) === '') go(path)
  }
  return (
    <tr
      aria-rowindex={position}
      class={path === undefined ? '' : 'leads'}
      {...(path === undefined ? {} : { onClick: follow })}
    >
      {columns.map((column, i) => (
        <td key={column.name} class={classOf(column)}>
          {i === 0 && path !== undefined ? (
            <a href={`#${path}`}>{column.show(row)}</a>
          ) : (
            column.show(row)
          )}
        </td>
      ))}
    </tr>
  )
}
