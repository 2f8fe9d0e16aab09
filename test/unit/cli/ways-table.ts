// Prints the tables of docs/routing.md from the table of ways.
import { filterText, filters, algorithms } from '#routing/choose/ways.ts'
import type { Way } from '#routing/choose/way.ts'
import { algorithms as spellings } from '#schemas/objects/service.ts'

export function algorithmTable(): string {
  const [byDefault] = spellings
  return table(
    ['`algorithm`', 'does', 'settings (default)', 'scope'],
    algorithms.map((way) => [
      `\`${way.name}\`${way.name === byDefault ? ' (default)' : ''}`,
      ...pageCells(way),
    ]),
  )
}

export function filterTable(): string {
  return table(
    ['filter', 'kind', 'does', 'settings (default)', 'scope'],
    filters.map((way) => [`\`${filterText(way)}\``, way.kind, ...pageCells(way)]),
  )
}

function pageCells({ page }: Way): readonly string[] {
  return [page.does, page.settings, page.scope]
}

/** As the formatter leaves it, but for the padding. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '-'), ...rows]
  return lines.map((cells) => `| ${cells.map((cell) => cell || ' ').join(' | ')} |`).join('\n')
}
