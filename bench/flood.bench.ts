// A flood with the addresses of victims, with and without a rate limit: octets that come to them
// for each one sent, what it costs the server, and what clients in their networks get.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodeBundle } from '#bundle/encode/encode.ts'
import { RrType } from '#dns/rrtype.ts'
import { plainCodeOf } from '#routing/choose/ways.ts'
import { encodeQuery } from './data/query-wire.ts'
import { staticZoneModel, staticZoneName } from './data/static-zone.ts'
import { floodLoad } from './load/flood-load.ts'
import type { FloodResult } from './load/flood-load.ts'
import { SteadyClient } from './load/steady-client.ts'
import type { SteadyCounts } from './load/steady-client.ts'
import { fixed } from './report.ts'
import type { BenchContext, Figure, Report } from './report.ts'
import { loadCore, serverCore } from './servers/duel.ts'
import { startGslbd } from './servers/servers.ts'
import type { Gslbd } from './servers/servers.ts'
import { cpuTime } from './support/process-cpu.ts'

const standardRate = 200_000
const limit = { perSecond: 20, slip: 2 } as const
const textOctets = 1_000

interface Question {
  readonly name: string
  readonly qname: string
  readonly type: number
}

const questions: readonly Question[] = [
  { name: 'an address', qname: `svc0.${staticZoneName}`, type: RrType.A },
  { name: 'no such name', qname: `none.${staticZoneName}`, type: RrType.A },
  { name: `a text of ${textOctets} octets`, qname: `big.${staticZoneName}`, type: RrType.TXT },
]
const networkCounts = [1, 1_000]

/** Clients that ask what the flood asks; the first two from the first network of victims. */
const clients = [
  { name: 'cookie', address: '127.64.0.201', everyMs: 20, hasCookie: true },
  { name: 'none', address: '127.64.0.202', everyMs: 100, hasCookie: false },
  { name: 'elsewhere', address: '127.32.0.203', everyMs: 100, hasCookie: false },
] as const
type ClientName = (typeof clients)[number]['name']

interface Flooded {
  readonly question: Question
  readonly networks: number
  readonly isLimited: boolean
  readonly flood: FloodResult
  /** Datagrams that the kernel had no room for in the server's socket. */
  readonly dropped: number
  readonly cpuMicros: number
  readonly counts: Readonly<Record<ClientName, SteadyCounts>>
}

export async function runFlood(context: BenchContext): Promise<Report> {
  const { isQuick, directory, say, load } = context
  const perSecond = load.rate ?? standardRate
  const seconds = isQuick ? 1 : 3
  const paths = [writeZone(directory)]
  const taken: Flooded[] = []
  for (const isLimited of [false, true]) {
    const server = await startGslbd(paths, {
      core: serverCore,
      // Without limits, but with cookies.
      rateLimit: isLimited ? limit : { perSecond: 0, slip: 0 },
    })
    try {
      // The compiler sees enough before anything counts.
      const [first] = questions
      const warm = { question: first!, networks: 1, isLimited, perSecond, seconds: 1 }
      await flooded(server, warm)
      for (const question of questions) {
        for (const networks of networkCounts) {
          say(`${question.name}, ${networks} networks, ${isLimited ? 'limited' : 'no limit'}`)
          const run = { question, networks, isLimited, perSecond, seconds }
          taken.push(await flooded(server, run))
        }
      }
    } finally {
      await server.stop()
    }
  }
  return reportOf(taken, perSecond, seconds)
}

interface FloodRun {
  readonly question: Question
  readonly networks: number
  readonly isLimited: boolean
  readonly perSecond: number
  readonly seconds: number
}

async function flooded(server: Gslbd, run: FloodRun): Promise<Flooded> {
  const { port, pid } = server
  const { question, networks, isLimited, perSecond, seconds } = run
  const { qname, type } = question
  const asking = clients.map(
    ({ address, everyMs, hasCookie }) =>
      new SteadyClient({
        ...{ port, address, qname, everyMs, hasCookie },
        query: { type, edns: 'plain' },
      }),
  )
  for (const client of asking) await client.open()
  const query = Buffer.from(encodeQuery(qname, { type, edns: 'plain' })).toString('hex')
  const [cpu, drops] = [cpuTime(pid), kernelDrops(port)]
  const flood = floodLoad({ port, query, networks, perSecond, seconds }, loadCore)
  for (const client of asking) client.start()
  const result = await flood
  const cpuNs = cpuTime(pid).totalNs - cpu.totalNs
  const dropped = kernelDrops(port) - drops
  const stopped = await Promise.all(asking.map((client) => client.stop()))
  const counts = Object.fromEntries(clients.map(({ name }, i) => [name, stopped[i]!]))
  return {
    ...{ question, networks, isLimited, flood: result, dropped },
    cpuMicros: cpuNs / 1_000 / Math.max(1, result.sent - dropped),
    counts: counts as Record<ClientName, SteadyCounts>,
  }
}

function reportOf(taken: readonly Flooded[], perSecond: number, seconds: number): Report {
  const figures: Record<string, Figure> = {}
  const rows = taken.map(({ question, networks, isLimited, flood, dropped, cpuMicros, counts }) => {
    const { sent, sentBytes, replyBytes } = flood
    const { cookie, none, elsewhere } = counts
    if (isLimited) {
      const value = cookie.asked - cookie.whole
      const key = `flood.lost.${question.name}.${networks}`
      figures[key] = { value, unit: 'queries', n: cookie.asked }
    }
    return [
      ...[question.name, String(networks), isLimited ? 'limited' : 'no limit'],
      ...[fixed(sent / flood.seconds, 0), fixed((dropped / sent) * 100, 1), fixed(cpuMicros, 2)],
      fixed(replyBytes / sentBytes, 2),
      `${cookie.whole} of ${cookie.asked}`,
      `${none.whole} of ${none.asked}, ${none.truncated} TC`,
      `${elsewhere.whole} of ${elsewhere.asked}`,
    ]
  })
  const { perSecond: rate, slip } = limit
  return {
    tables: [
      {
        title: `A flood of ${perSecond} questions/s with the addresses of victims, one thread`,
        columns: [
          ...['question', 'networks', 'limit', 'sent/s', 'dropped %', 'CPU µs each'],
          ...['octets for one', 'with cookie', 'without', 'elsewhere'],
        ],
        rows,
        notes: [
          `limited: ${rate} a second of a kind to a network, window 2 s, slip ${slip}`,
          'octets for one: of DNS messages that come to the victims, for each one sent',
          'dropped: by the kernel, before the server saw it; CPU: the server, each question that it saw',
          'whole answers to a client of a victim’s network with a cookie, 50 a second, to one without, 10 a second, and to one of another network without, 10 a second; all ask what the flood asks',
          `server and flood have a core each, ${seconds} s for each row`,
        ],
      },
    ],
    figures,
  }
}

function writeZone(directory: string): string {
  const text = Array.from({ length: textOctets / 250 }, () => `"${'x'.repeat(249)}"`).join(' ')
  const path = join(directory, 'flood.bundle')
  const model = staticZoneModel(1_000, [['big', 'TXT', text]])
  writeFileSync(path, encodeBundle(model, plainCodeOf).bytes)
  return path
}

/** Datagrams that were dropped at the sockets of a port since they were opened. */
function kernelDrops(port: number): number {
  const hex = port.toString(16).toUpperCase().padStart(4, '0')
  return readFileSync('/proc/net/udp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local]) => local?.endsWith(`:${hex}`) === true)
    .reduce((sum, fields) => sum + Number(fields.at(-1)), 0)
}
