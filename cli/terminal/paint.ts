// Formats text for a terminal: colours, columns, and no control characters.
import { variable } from '#system/process/command.ts'
import type { Io } from '#system/process/command.ts'

/** Meaning of a word, which decides its colour. */
export type Tone = 'good' | 'warning' | 'bad' | 'quiet' | 'strong'

/** SGR parameters of ECMA-48. */
const codes: Readonly<Record<Tone, string>> = {
  good: '32',
  warning: '33',
  bad: '31',
  quiet: '2',
  strong: '1',
}

export type Paint = (tone: Tone, text: string) => string

/** Colours on a terminal, unless NO_COLOR is set or the terminal is a dumb one. */
export function painterOf({ env, isTerminal }: Pick<Io, 'env' | 'isTerminal'>): Paint {
  const isPlain =
    !isTerminal || variable(env, 'NO_COLOR') !== undefined || variable(env, 'TERM') === 'dumb'
  return isPlain ? (_tone, text) => text : (tone, text) => `\u001b[${codes[tone]}m${text}\u001b[0m`
}

/** Makes a server's text safe to print: nothing in it may move the cursor or forge a line. */
export function plain(text: string): string {
  return text.replaceAll(/\p{C}|[\u2028\u2029]/gu, '?')
}

export interface Cell {
  readonly text: string
  readonly tone?: Tone | undefined
}

export type Row = readonly (string | Cell)[]

export const strong = (text: string): Cell => ({ text, tone: 'strong' })

/** Aligns rows in columns, two spaces apart; colours take no width. */
export function columns(rows: readonly Row[], paint: Paint): string[] {
  const widths: number[] = []
  const cellsOf = (row: Row): Cell[] =>
    row.map((cell) => (typeof cell === 'string' ? { text: cell } : cell))
  for (const row of rows) {
    for (const [index, { text }] of cellsOf(row).entries()) {
      widths[index] = Math.max(widths[index] ?? 0, text.length)
    }
  }
  return rows.map((row) =>
    cellsOf(row)
      .map(({ text, tone }, index) => {
        const gap = index === row.length - 1 ? '' : ' '.repeat((widths[index] ?? 0) - text.length)
        return (tone === undefined ? text : paint(tone, text)) + gap
      })
      .join('  ')
      .trimEnd(),
  )
}
