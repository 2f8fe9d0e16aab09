// A process that looks up addresses in one geo table and says what it took.
import { Random } from '#lib/random.ts'
import { RangeTable } from '#routing/tables/range-table.ts'
import { millionCountries, worldCountries } from '../data/geo-tables.ts'
import { residentBytes } from '../support/process-cpu.ts'
import { median } from '../support/statistics.ts'

export interface GeoResult {
  readonly rows4: number
  readonly rows6: number
  readonly runs: number
  readonly find4Ns: number
  readonly find6Ns: number
  readonly loadMs: number
  readonly tableBytes: number
  /** Peak memory of the process, with the file and all that loading needed. */
  readonly peakBytes: number
}

const addresses = 262_144

/** What came out is kept, so that no lookup can be left out. */
let sink = 0

function timed(run: () => number): number {
  const before = process.cpuUsage().user
  sink += run()
  return ((process.cpuUsage().user - before) * 1_000) / addresses
}

function lookup4(table: RangeTable, asked: Uint32Array): number {
  let sum = 0
  for (let i = 0; i < addresses; i++) sum += table.value4(table.find4(asked[i]!))
  return sum
}

function lookup6(table: RangeTable, asked: Uint32Array): number {
  let sum = 0
  for (let i = 0; i < addresses * 4; i += 4) {
    sum += table.value6(table.find6(asked[i]!, asked[i + 1]!, asked[i + 2]!, asked[i + 3]!))
  }
  return sum
}

function measure(kind: string | undefined, runs: number): GeoResult {
  const startedMs = performance.now()
  const { ranges } = kind === 'world' ? worldCountries() : millionCountries()
  const loadMs = performance.now() - startedMs
  const peakBytes = residentBytes('self').peak
  const table = new RangeTable(ranges)
  const random = new Random(1)
  const asked4 = new Uint32Array(addresses).map(() => random.next())
  const asked6 = new Uint32Array(addresses * 4)
  for (let i = 0; i < asked6.length; i += 4) {
    const row = random.below(table.count6)
    for (let word = 0; word < 3; word++) asked6[i + word] = table.start6(row, word)
    asked6[i + 3] = random.next()
  }
  const times = { find4: [] as number[], find6: [] as number[] }
  // Two rounds for the compiler of V8.
  for (let round = -2; round < runs; round++) {
    const find4 = timed(() => lookup4(table, asked4))
    const find6 = timed(() => lookup6(table, asked6))
    if (round < 0) continue
    times.find4.push(find4)
    times.find6.push(find6)
  }
  if (!Number.isFinite(sink)) throw new Error('a value is no number')
  return {
    rows4: table.count4,
    rows6: table.count6,
    runs,
    find4Ns: median(times.find4),
    find6Ns: median(times.find6),
    loadMs,
    tableBytes: ranges.byteLength,
    peakBytes,
  }
}

const [kind, runs] = process.argv.slice(2)
process.stdout.write(`${JSON.stringify(measure(kind, Number(runs)))}\n`)
