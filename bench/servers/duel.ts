// Loads servers at the same instant on one core and compares their cost per query; shows how cost
// and memory grow with the number of services.
import { fixed, mib } from '../report.ts'
import type { BenchContext, Figure, Table } from '../report.ts'
import { residentBytes } from '../support/process-cpu.ts'
import type { CpuPerQuery } from '../support/process-cpu.ts'
import { median, range } from '../support/statistics.ts'
import type { RunningServer } from './servers.ts'

export const serverCore = 0
export const loadCore = 1

export interface Sample extends CpuPerQuery {
  readonly queriesPerSecond: number
}

/** By round: our sample, and with a peer, its sample and the ratio of ours to it. */
interface Duel<S extends Sample = Sample> {
  readonly ours: S[]
  readonly theirs: S[]
  readonly ratios: number[]
}

/** Loads all servers at once. @returns a sample for each, in their order */
export type Load<S extends Sample> = (
  servers: readonly RunningServer[],
  seconds: number,
) => Promise<S[]>

/** @param servers ours, then its peer, if any */
export async function duel<S extends Sample>(
  servers: readonly RunningServer[],
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
  load: Load<S>,
): Promise<Duel<S>> {
  const taken: Duel<S> = { ours: [], theirs: [], ratios: [] }
  for (let round = 0; round < rounds; round++) {
    // The first load has a moment alone, so servers take turns.
    const isFirst = round % 2 === 0
    const samples = await load(isFirst ? servers : servers.toReversed(), seconds)
    const [ours, theirs] = isFirst ? samples : samples.toReversed()
    taken.ours.push(ours!)
    if (theirs === undefined) continue
    taken.theirs.push(theirs)
    taken.ratios.push(ours!.totalMicros / theirs.totalMicros)
  }
  return taken
}

export const sampleColumns = ['user µs', 'system µs', 'total µs', 'total min-max', 'queries/s']

export function cells(samples: readonly Sample[]): string[] {
  const middle = (pick: (sample: Sample) => number): number => median(samples.map(pick))
  return [
    ...(['userMicros', 'systemMicros', 'totalMicros'] as const).map((part) =>
      fixed(
        middle((sample) => sample[part]),
        2,
      ),
    ),
    range(
      samples.map(({ totalMicros }) => totalMicros),
      2,
    ),
    fixed(
      middle(({ queriesPerSecond }) => queriesPerSecond),
      0,
    ),
  ]
}

export const figureOf = ({ ratios }: Duel): Figure => ({
  ...{ value: median(ratios), unit: 'ratio' },
  n: ratios.length,
})

/** Samples of a server with a number of services, from its first query on. */
export interface Growth {
  readonly services: number
  /** The first seconds after a start. */
  readonly cold: Duel
  readonly rest: Duel
  readonly residentBytes: readonly number[]
}

/** @param servers freshly started: ours, then its peer, if any */
export async function grow<S extends Sample>(
  services: number,
  servers: readonly RunningServer[],
  { isQuick, say }: Pick<BenchContext, 'isQuick' | 'say'>,
  load: Load<S>,
): Promise<Growth> {
  say(`${services} services: the first seconds, then ${servers.length} at the same instant`)
  const cold = await duel(servers, { rounds: 1, seconds: isQuick ? 2 : 10 }, load)
  const rest = await duel(servers, { rounds: isQuick ? 2 : 6, seconds: isQuick ? 1 : 4 }, load)
  return {
    ...{ services, cold, rest },
    residentBytes: servers.map(({ pid }) => residentBytes(pid).now),
  }
}

export function growthTable(
  title: string,
  grown: readonly Growth[],
  notes: readonly string[],
): Table {
  const micros = ({ ours, theirs }: Duel, part: 'userMicros' | 'totalMicros'): string[] =>
    [ours, theirs].map((samples) => fixed(median(samples.map((sample) => sample[part])), 2))
  return {
    title: `${title}, by the number of services: gslbd and gdnsd at the same instant on one core`,
    columns: [
      ...['services', 'total µs', 'gdnsd', 'user µs', 'gdnsd', 'first 10 s', 'at rest'],
      ...['min-max', 'resident MiB', 'gdnsd'],
    ],
    rows: grown
      .toSorted((a, b) => a.services - b.services)
      .map(({ services, cold, rest, residentBytes: [ours, theirs] }) => [
        String(services),
        ...micros(rest, 'totalMicros'),
        ...micros(rest, 'userMicros'),
        ...[fixed(median(cold.ratios), 3), fixed(median(rest.ratios), 3), range(rest.ratios, 3)],
        ...[mib(ours!), theirs === undefined ? '-' : mib(theirs)],
      ]),
    notes: [
      ...notes,
      'first 10 s, at rest: total CPU of gslbd to that of gdnsd, in the first load after a start and from then on',
      'gslbd: the server of the benchmark, with its control thread; what the program takes is under memory',
    ],
  }
}
