// Runs dnsperf, the load generator, and parses its output.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { startProgram } from '../servers/program.ts'

export const ednsModes = Object.freeze([
  { name: 'none', flags: [] },
  { name: 'edns', flags: ['-e'] },
  // 192.0.2.0/24. RFC 7871.
  { name: 'ecs', flags: ['-e', '-E', '8:00011800c00002'] },
  // DO: signatures are asked for.
  { name: 'do', flags: ['-e', '-D'] },
] as const)
export type EdnsMode = (typeof ednsModes)[number]

interface DnsperfRun {
  readonly port: number
  /** What carries the messages. Default `udp`. */
  readonly mode?: 'udp' | 'tcp' | 'dot'
  /** Lines of `name type`. */
  readonly queryFile: string
  readonly seconds: number
  readonly core?: number
  readonly edns?: EdnsMode
  /** Queries per second; absent: as many as the window of 100 outstanding queries allows. */
  readonly rate?: number
  /** Outstanding queries at which sending pauses. Default 100. */
  readonly outstandingMax?: number
  /** Number of sending sockets. Default 1. */
  readonly clients?: number
  readonly threads?: number
  /** Records the latency of each query, not only the mean. */
  readonly wantsLatencies?: boolean
}

export interface DnsperfResult {
  readonly sent: number
  readonly completed: number
  readonly lost: number
  readonly seconds: number
  readonly queriesPerSecond: number
  readonly byRcode: Readonly<Record<string, number>>
  readonly latencyMs: { readonly mean: number; readonly least: number; readonly most: number }
  /** In milliseconds; empty unless asked for. */
  readonly latencies: readonly number[]
}

/** @throws when dnsperf is missing or prints no statistics */
export async function dnsperf(run: DnsperfRun): Promise<DnsperfResult> {
  const args = [
    ...['-s', '127.0.0.1', '-p', String(run.port), '-m', run.mode ?? 'udp', '-d', run.queryFile],
    ...['-l', String(run.seconds), '-q', String(run.outstandingMax ?? 100), '-t', '2'],
    ...['-c', String(run.clients ?? 1), '-T', String(run.threads ?? 1)],
    ...(run.rate === undefined ? [] : ['-Q', String(run.rate)]),
    ...(run.wantsLatencies === true ? ['-v'] : []),
    ...(run.edns?.flags ?? []),
  ]
  // A line for each query: through a pipe, they would keep waking this process.
  const outputFile = run.wantsLatencies === true ? `${run.queryFile}.${run.port}.out` : undefined
  const program = startProgram('dnsperf', args, { core: run.core, outputFile })
  const code = await program.ended
  const parsed = parseDnsperf(program.output())
  if (!parsed.ok) throw new Error(`dnsperf (exit ${code}): ${parsed.error}\n${program.errors()}`)
  return parsed.value
}

/** @param text standard output of dnsperf 2.x. Errors: a sentence that names what is missing. */
export function parseDnsperf(text: string): Result<DnsperfResult, string> {
  const statistics = text.slice(Math.max(0, text.lastIndexOf('\nStatistics:')))
  const number = (pattern: RegExp): number => Number(pattern.exec(statistics)?.[1])
  const sent = number(/Queries sent:\s+(\d+)/)
  const completed = number(/Queries completed:\s+(\d+)/)
  const lost = number(/Queries lost:\s+(\d+)/)
  const seconds = number(/Run time \(s\):\s+([\d.]+)/)
  if ([sent, completed, lost, seconds].some(Number.isNaN)) {
    return err('its output has no statistics')
  }
  const latency = /Average Latency \(s\):\s+([\d.]+) \(min ([\d.]+), max ([\d.]+)\)/.exec(
    statistics,
  )
  const ms = (group: number): number => Number(latency?.[group] ?? Number.NaN) * 1_000
  return ok({
    sent,
    completed,
    lost,
    seconds,
    queriesPerSecond: completed / seconds,
    byRcode: rcodesOf(/Response codes:\s+(.*)/.exec(statistics)?.[1] ?? ''),
    latencyMs: { mean: ms(1), least: ms(2), most: ms(3) },
    latencies: latenciesOf(text),
  })
}

/** `NOERROR 990 (99.00%), SERVFAIL 10 (1.00%)` */
function rcodesOf(list: string): Record<string, number> {
  const found = [...list.matchAll(/([A-Z][A-Z0-9]*) (\d+) \(/g)]
  return Object.fromEntries(found.map(([, rcode, count]) => [rcode!, Number(count)]))
}

/** With -v each answered query is a line: `> NOERROR www.example.com A 0.000123`. */
function latenciesOf(text: string): number[] {
  const found: number[] = []
  for (const [, seconds] of text.matchAll(/^> \S+ \S+ \S+ ([\d.]+)$/gm)) {
    found.push(Number(seconds) * 1_000)
  }
  return found
}
