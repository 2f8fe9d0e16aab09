// Geo tables by themselves: CPU of a lookup, time to load a database, and what stays of it.
import { fileURLToPath } from 'node:url'
import { fixed, mib } from './report.ts'
import type { BenchContext, Figure, Report } from './report.ts'
import type { GeoResult } from './measure/measure-geo.ts'
import { runForJson } from './servers/program.ts'

const script = fileURLToPath(new URL('./measure/measure-geo.ts', import.meta.url))
const titles = {
  world: 'countries of the world',
  million: 'a million ranges, made up',
} as const

export async function runGeo({ isQuick, say }: BenchContext): Promise<Report> {
  const rows: string[][] = []
  const figures: Record<string, Figure> = {}
  for (const kind of ['world', 'million'] as const) {
    say(titles[kind])
    const result = await runForJson<GeoResult>([script, kind, isQuick ? '3' : '15'])
    rows.push([
      titles[kind],
      `${result.rows4} + ${result.rows6}`,
      String(result.runs),
      fixed(result.find4Ns, 0),
      fixed(result.find6Ns, 0),
      fixed(result.loadMs, 0),
      mib(result.tableBytes),
      mib(result.peakBytes),
    ])
    const { runs } = result
    figures[`geo.${kind}.find4`] = { value: result.find4Ns, unit: 'ns', n: runs }
    figures[`geo.${kind}.find6`] = { value: result.find6Ns, unit: 'ns', n: runs }
  }
  return {
    tables: [
      {
        title: 'Looking up an address in a geo table',
        columns: [
          'table',
          'IPv4 + IPv6 ranges',
          'n',
          'IPv4 ns',
          'IPv6 ns',
          'load ms',
          'table MiB',
          'peak memory MiB',
        ],
        rows,
        notes: [
          'ns: user CPU, the median of n runs over 262,144 addresses, none asked for twice in a row',
          'IPv4 addresses are random; IPv6 addresses lie in random ranges, each as likely',
          'load: from the file on disk (world) or from a list of ranges (million) to the table',
        ],
      },
    ],
    figures,
  }
}
