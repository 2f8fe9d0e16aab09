// What a rate limit costs an answer, by how many networks of clients ask; and what of it is memory.
import { fileURLToPath } from 'node:url'
import type { RateLimitResult } from './measure/measure-rate-limit.ts'
import { fixed } from './report.ts'
import type { BenchContext, Figure, Report } from './report.ts'
import { runForJson } from './servers/program.ts'

const script = fileURLToPath(new URL('./measure/measure-rate-limit.ts', import.meta.url))

export async function runRrl({ isQuick, say }: BenchContext): Promise<Report> {
  say('answers with and without a rate limit, without a socket')
  const { answers, looks } = await runForJson<RateLimitResult>([
    script,
    ...(isQuick ? ['--quick'] : []),
  ])
  const figures: Record<string, Figure> = {}
  const rows = answers.map(({ question, networks, buckets, unlimited, limited }) => {
    const value = limited - unlimited
    const name = [...(buckets === 'all' ? [] : [buckets]), question, networks].join('.')
    figures[`rrl.${name}`] = { value, unit: 'ns', n: 1 }
    const nanos = [unlimited, limited, value]
    return [question, String(networks), buckets, ...nanos.map((one) => fixed(one, 0))]
  })
  return {
    tables: [
      {
        title: 'CPU of an answer with and without a rate limit, without a socket',
        columns: [
          'question',
          'networks',
          'of bucket left',
          'without ns',
          'with ns',
          'the limit ns',
        ],
        rows,
        notes: [
          'least of the rounds, which take turns; a table of 131,072 buckets, all is answered',
          'networks ask in turn, so that each look is at another line of the table',
          'left: a bucket that is not full changes by compare and exchange',
        ],
      },
      {
        title: 'A look at a random line of memory, which the next one waits for',
        columns: ['table KiB', 'read ns', 'read and changed by compare and exchange ns'],
        rows: looks.map(({ tableBytes, read, changed }) => [
          String(tableBytes / 1_024),
          fixed(read, 1),
          fixed(changed, 1),
        ]),
        notes: ['with the hash that makes the next place; each answer has one such look'],
      },
    ],
    figures,
  }
}
