// Measures the cost of signatures: answers with remembered ones beside unsigned answers, without
// sockets and with them, and beside Knot and PowerDNS that sign online.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { load } from './answer.bench.ts'
import { dnsperf, ednsModes } from './load/dnsperf.ts'
import type { AheadCost, SignedAhead } from './measure/measure-ahead.ts'
import type { SigningCost } from './measure/measure-signing.ts'
import { fixed } from './report.ts'
import type { BenchContext, Figure, Report, Table } from './report.ts'
import { cells, loadCore, sampleColumns, serverCore } from './servers/duel.ts'
import type { Sample } from './servers/duel.ts'
import { runForJson } from './servers/program.ts'
import { zone } from './servers/servers.ts'
import type { RunningServer } from './servers/servers.ts'
import { missingPackages, signingServers, startSigner } from './servers/signing-servers.ts'
import type { SigningServer } from './servers/signing-servers.ts'
import { median } from './support/statistics.ts'

const names = 1_000
const clients = 8
const edns = ednsModes.find(({ name }) => name === 'do')!
const aheadScript = fileURLToPath(new URL('./measure/measure-ahead.ts', import.meta.url))
const script = fileURLToPath(new URL('./measure/measure-signing.ts', import.meta.url))

const questions = {
  address: (i: number) => `svc${i}.${zone} A`,
  'no such name': (i: number) => `none${i}.${zone} A`,
} as const
type Question = keyof typeof questions

export async function runSigning(context: BenchContext): Promise<Report> {
  const figures: Record<string, Figure> = {}
  const ahead = await measureAhead(context, figures)
  const alone = await measureAlone(context, figures)
  const beside = await measureBeside(context, figures)
  return { tables: [ahead, alone, beside], figures }
}

async function measureAhead(
  { isQuick, say }: BenchContext,
  figures: Record<string, Figure>,
): Promise<Table> {
  say('signing ahead after a start')
  const args = [aheadScript, ...(isQuick ? ['--quick'] : [])]
  const { services, members, all, firstMicros } = await runForJson<AheadCost>(args)
  figures['signing.ahead.members'] = { value: members.seconds, unit: 's', n: 1 }
  figures['signing.ahead.first answer'] = { value: firstMicros, unit: 'µs', n: 1 }
  const row = (what: string, { signatures, seconds, bytes }: SignedAhead): string[] => [
    what,
    `${signatures}`,
    fixed(seconds, 2),
    fixed((seconds * 1e6) / signatures, 1),
    bytes === 0 ? '' : fixed(bytes / 2 ** 20, 1),
  ]
  return {
    title: `Signing ahead after a start: ${services} services of four members, P-256`,
    columns: ['what', 'signatures', 'CPU s', 'µs each', 'MiB more'],
    rows: [
      row('each member of each service', members),
      row('with records, and a denial at each name', all),
      ['a first answer, which nobody has signed', '1', '', fixed(firstMicros, 1), ''],
    ],
    notes: [
      'CPU of the thread, with its start; memory of the process with the table of signatures',
      'a first answer: the median, without a socket',
    ],
  }
}

async function measureAlone(
  { isQuick, say }: BenchContext,
  figures: Record<string, Figure>,
): Promise<Table> {
  say('signed and unsigned, without a socket')
  const costs = await runForJson<SigningCost[]>([script, ...(isQuick ? ['--quick'] : [])])
  const rows = costs.map(({ question, unsigned, signed }) => {
    const value = signed / unsigned
    figures[`signing.alone.${question}`] = { value, unit: 'ratio', n: 1 }
    return [question, fixed(unsigned, 0), fixed(signed, 0), fixed(value, 2)]
  })
  return {
    title: 'CPU of an answer with DO that was signed before, without a socket',
    columns: ['question', 'unsigned ns', 'signed ns', 'ratio'],
    rows,
    notes: ['least of the rounds, which take turns; P-256'],
  }
}

async function measureBeside(
  { isQuick, directory, say }: BenchContext,
  figures: Record<string, Figure>,
): Promise<Table> {
  const [rounds, seconds] = isQuick ? [1, 1] : [5, 4]
  const servers = new Map<SigningServer, RunningServer>()
  const rows: string[][] = []
  try {
    for (const name of signingServers) {
      const missing = missingPackages(name)
      if (missing.length > 0) {
        say(`${name} is left out: ${notInstalled(missing)}`)
        continue
      }
      const home = join(directory, name)
      mkdirSync(home, { recursive: true })
      say(`starting ${name}`)
      servers.set(name, await startSigner(name, { directory: home, names, core: serverCore }))
    }
    for (const question of Object.keys(questions) as Question[]) {
      const queryFile = writeQuestions(directory, question)
      const taken = new Map<SigningServer, Sample[]>()
      // The first round makes the signatures, and warms up the compiler.
      for (let round = 0; round <= rounds; round++) {
        say(`${question}: round ${round} of ${rounds}`)
        for (const [name, server] of servers) {
          if (round === 0) {
            await dnsperf({ port: server.port, queryFile, seconds, core: loadCore, edns })
            continue
          }
          const [sample] = await load([server], { queryFile, seconds, edns, clients })
          taken.set(name, [...(taken.get(name) ?? []), sample!])
        }
      }
      rows.push(...rowsOf(question, taken, figures))
    }
  } finally {
    for (const server of servers.values()) await server.stop()
  }
  return {
    title: `CPU per query with DO, signed before; each server in turn on one core, ${names} names`,
    columns: ['question', 'server', ...sampleColumns, 'gslbd to it'],
    rows,
    notes: [
      'unsigned: gslbd with the same services; its failover takes one of four members',
      'knot: mod-onlinesign; pdns: NSEC3 narrow, one thread of each kind, its caches as they come',
      'the ratio is that of medians; P-256 everywhere',
    ],
  }
}

const notInstalled = (packages: readonly string[]): string =>
  `not installed: ${packages.join(', ')}`

function writeQuestions(directory: string, question: Question): string {
  const path = join(directory, `${question.replaceAll(' ', '-')}.txt`)
  const lines = Array.from({ length: names }, (_, i) => `${questions[question](i)}\n`)
  writeFileSync(path, lines.join(''))
  return path
}

function rowsOf(
  question: Question,
  taken: ReadonlyMap<SigningServer, readonly Sample[]>,
  figures: Record<string, Figure>,
): string[][] {
  const totalOf = (name: SigningServer): number =>
    median((taken.get(name) ?? []).map(({ totalMicros }) => totalMicros))
  const ours = totalOf('gslbd')
  return signingServers.map((name) => {
    const samples = taken.get(name)
    if (samples === undefined) {
      const why = notInstalled(missingPackages(name))
      return [question, name, ...cells([]).map(() => '-'), why]
    }
    const value = ours / totalOf(name)
    if (name !== 'gslbd') {
      figures[`signing.${name}.${question}`] = { value, unit: 'ratio', n: samples.length }
    }
    return [question, name, ...cells(samples), fixed(value, 2)]
  })
}
