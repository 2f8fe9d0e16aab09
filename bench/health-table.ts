// Runs the health benchmark, a separate program, and turns its output into a table.
import { fileURLToPath } from 'node:url'
import type { BenchContext, Report } from './report.ts'
import { startProgram } from './servers/program.ts'

const script = fileURLToPath(new URL('./health.bench.ts', import.meta.url))

export async function runHealth({ isQuick, say }: BenchContext): Promise<Report> {
  say(isQuick ? 'one row' : 'all rows, about two minutes')
  const program = startProgram(process.execPath, [script, ...(isQuick ? ['http', '3000'] : [])])
  const code = await program.ended
  if (code !== 0) throw new Error(`it ended (${code}): ${program.errors()}`)
  const [columns = [], ...rows] = markdownCells(program.output())
  const notes = ['each target is probed every 10 s; cost of the monitor and its worker']
  return { tables: [{ title: 'Health probes', columns, rows, notes }], figures: {} }
}

/** The cells of a Markdown table, without the line below its head. */
export function markdownCells(text: string): string[][] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\|[-|: ]+\|$/.test(line))
    .map((line) => line.slice(1, line.lastIndexOf('|')).split('|'))
    .map((cells) => cells.map((cell) => cell.trim()))
}
