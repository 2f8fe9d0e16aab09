// A table of fields before and after a change.
import { labelOf, yamlOf } from '../parts/formats.ts'
import type { Difference } from './differences.ts'

interface DifferenceTableProps {
  readonly rows: readonly Difference[]
  readonly before?: string
  readonly after?: string
}

export function DifferenceTable({
  rows,
  before = 'Before',
  after = 'After',
}: DifferenceTableProps) {
  return (
    <div class="table-box" tabIndex={0} role="group" aria-label="What changes">
      <table class="differences">
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">{before}</th>
            <th scope="col">{after}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.field}>
              <th scope="row">{labelOf(row.field)}</th>
              <td>{row.before !== undefined && <del>{shown(row.before)}</del>}</td>
              <td>{row.after !== undefined && <ins>{shown(row.after)}</ins>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const shown = (value: unknown): string => yamlOf(value).trim()
