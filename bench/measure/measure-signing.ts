// Measures an answer of a signed zone with a remembered signature, beside the same answer of an
// unsigned zone: without a socket, in turns. Run by the benchmark `signing`; prints JSON.
import { RrType } from '#dns/rrtype.ts'
import { AnswerLoop } from '../data/answer-mix.ts'
import { encodeQuery } from '../data/query-wire.ts'
import { signingGeneration } from '../data/signing-generation.ts'

export interface SigningCost {
  readonly question: string
  /** Nanoseconds of one answer, least of the rounds. */
  readonly unsigned: number
  readonly signed: number
}

const zone = 'gslb.example.com'
const edns = { edns: 'do' } as const
const kinds = [
  ['failover', encodeQuery(`svc2.${zone}`, edns)],
  ['round robin', encodeQuery(`svc0.${zone}`, edns)],
  ['three addresses', encodeQuery(`www.${zone}`, edns)],
  ['two aliases, three addresses', encodeQuery(`alias2.${zone}`, edns)],
  ['an alias of a wildcard', encodeQuery(`a.wild.${zone}`, edns)],
  ['no data (AAAA)', encodeQuery(`svc2.${zone}`, { ...edns, type: RrType.AAAA })],
  ['no such name', encodeQuery(`none.${zone}`, edns)],
] as const

function nanos(loop: AnswerLoop, query: Uint8Array, times: number): number {
  const cpu = process.threadCpuUsage()
  loop.run(query, times)
  const { user, system } = process.threadCpuUsage(cpu)
  return ((user + system) * 1_000) / times
}

const isQuick = process.argv.includes('--quick')
const [rounds, times] = isQuick ? [1, 1_000] : [15, 50_000]
const loops = [false, true].map(
  (isSigned) => new AnswerLoop(signingGeneration({ services: 1_000, isSigned }), 1),
)
for (let i = 0; i < 20; i++) {
  for (const [, query] of kinds) for (const loop of loops) loop.run(query, isQuick ? 50 : 1_000)
}
const costs = kinds.map(([question, query]): SigningCost => {
  const least = [Infinity, Infinity]
  for (let round = 0; round < rounds; round++) {
    for (const [i, loop] of loops.entries())
      least[i] = Math.min(least[i]!, nanos(loop, query, times))
  }
  return { question, unsigned: least[0]!, signed: least[1]! }
})
process.stdout.write(`${JSON.stringify(costs)}\n`)
