// Prints the layer table as ARCHITECTURE.md shows it.
import type { Layer } from '../layers.ts'

export function layerTable(layers: readonly Layer[]): string {
  const head = [
    '| folder | knows | may import, besides itself | packages | modules of Node |',
    '| - | - | - | - | - |',
  ]
  const rows = layers.map(({ folder, says, mayImport, packages, node }) => {
    const cells = [`\`${folder}/\``, says, listed(mayImport), listed(packages), listed(node)]
    return `| ${cells.join(' | ')} |`
  })
  return [...head, ...rows].join('\n')
}

/** The same text without what the formatter adds to line up the columns of tables. */
export function withoutPadding(markdown: string): string {
  return markdown.replace(/^\|.*\|$/gm, (row) => row.replace(/ +/g, ' ').replace(/-{2,}/g, '-'))
}

function listed(words: readonly string[] | 'any'): string {
  if (words === 'any') return 'any'
  return words.length === 0 ? 'none' : words.join(', ')
}

/** The rooms of a layer as ARCHITECTURE.md lists them: `encode, format, load, signature`. */
export function roomsOf(layer: string, paths: readonly string[]): string {
  const inside = paths.filter((path) => path.startsWith(`${layer}/`))
  const folders = inside.map((path) => path.split('/').slice(1, -1))
  const rooms = new Set(folders.flatMap((names) => names.slice(0, 1)))
  return listed([...rooms].sort())
}
