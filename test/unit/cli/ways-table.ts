// Prints the tables of docs/routing.md from the table of ways.
import { filterText, filters, algorithms } from '#routing/choose/ways.ts'
import type { Way } from '#routing/choose/way.ts'
import { algorithms as spellings } from '#schemas/objects/service.ts'
import { tableOf } from '#test/support/page-table.ts'

export function algorithmTable(): string {
  const [byDefault] = spellings
  return tableOf(
    ['`algorithm`', 'does', 'settings (default)', 'scope'],
    algorithms.map((way) => [
      `\`${way.name}\`${way.name === byDefault ? ' (default)' : ''}`,
      ...pageCells(way),
    ]),
  )
}

export function filterTable(): string {
  return tableOf(
    ['filter', 'kind', 'does', 'settings (default)', 'scope'],
    filters.map((way) => [`\`${filterText(way)}\``, way.kind, ...pageCells(way)]),
  )
}

function pageCells({ page }: Way): readonly string[] {
  return [page.does, page.settings, page.scope]
}
