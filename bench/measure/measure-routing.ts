// A process that measures every algorithm and filter on the answer path: CPU time above round
// robin, and octets allocated. Run by the benchmark `routing`, with a large young generation.
import { GeoTables, noGeoBuffers } from '#routing/geo/geo-tables.ts'
import { clients4, clients6 } from '../data/clients.ts'
import type { Clients } from '../data/clients.ts'
import { ClientLoop, clientModes } from './client-loop.ts'
import type { ClientMode } from './client-loop.ts'
import { measure } from './count-allocation.ts'
import {
  millionCountries,
  millionOperators,
  worldCountries,
  worldPlaces,
} from '../data/geo-tables.ts'
import { domainOf, routingGeneration, routingKinds } from '../data/routing-kinds.ts'
import type { Tables } from '../data/routing-kinds.ts'
import { median } from '../support/statistics.ts'

export interface MeasuredKind {
  readonly name: string
  readonly budget: string | null
  readonly modes: Readonly<Record<ClientMode, MeasuredMode>>
}

interface MeasuredMode {
  readonly nanos: number
  /** Medians of differences between adjacent measurements. */
  readonly nanosAbove: number
  readonly bytesEach: number
}

export interface RoutingResult {
  readonly rounds: number
  readonly operations: number
  readonly rows: Readonly<Record<string, number>>
  readonly kinds: readonly MeasuredKind[]
}

const isQuick = process.argv.includes('--quick')
const times = isQuick ? 20_000 : 200_000
const rounds = isQuick ? 3 : 9

const world = worldCountries()
const places = worldPlaces(world)
const countries = millionCountries()
const operators = millionOperators()
const buffers = {
  world: { country: world, subdivision: null, asn: null, location: places },
  million: { country: countries, subdivision: null, asn: operators, location: null },
}
const tables = new GeoTables(buffers.world)
const fourOctets = clients4()
const sixteenOctets = clients6(tables.country!.ranges)
const loops: Readonly<Record<Tables, ClientLoop>> = {
  none: new ClientLoop(
    routingGeneration(routingKinds, noGeoBuffers, false, [fourOctets, sixteenOctets]),
  ),
  world: new ClientLoop(routingGeneration(routingKinds, buffers.world, false)),
  million: new ClientLoop(routingGeneration(routingKinds, buffers.million, true)),
}
const clientsOf = (mode: ClientMode): Clients =>
  mode === 'source4' || mode === 'ecs4' ? fourOctets : sixteenOctets

function run(kind: number, mode: ClientMode, count: number): void {
  loops[routingKinds[kind]!.tables].run(domainOf(kind), mode, clientsOf(mode), count)
}

function nanosOf(kind: number, mode: ClientMode): number {
  const before = process.threadCpuUsage()
  run(kind, mode, times)
  const { user, system } = process.threadCpuUsage(before)
  return ((user + system) * 1_000) / times
}

/** By rounds, so that a disturbance affects a kind and its baseline alike. */
function measureNanos(mode: ClientMode): { nanos: number; nanosAbove: number }[] {
  const taken = routingKinds.map(() => ({ each: [] as number[], above: [] as number[] }))
  for (let round = 0; round < rounds; round++) {
    for (const [kind, { each, above }] of taken.entries()) {
      const base = nanosOf(0, mode)
      const nanos = nanosOf(kind, mode)
      each.push(nanos)
      above.push(nanos - base)
    }
  }
  return taken.map(({ each, above }) => ({ nanos: median(each), nanosAbove: median(above) }))
}

async function measureAll(): Promise<RoutingResult> {
  const kinds = routingKinds.map(({ name, budget }) => ({
    name,
    budget: budget ?? null,
    modes: {} as Record<ClientMode, MeasuredMode>,
  }))
  // All kinds run before the first measurement: a later one would deoptimise the code.
  for (let i = 0; i < 3; i++) {
    for (const mode of clientModes) for (const kind of kinds.keys()) run(kind, mode, 20_000)
  }
  for (const mode of clientModes) {
    const nanos = measureNanos(mode)
    for (const [kind, { name, modes }] of kinds.entries()) {
      const { bytes, operations } = await measure(name, times, (n) => run(kind, mode, n))
      modes[mode] = { ...nanos[kind]!, bytesEach: bytes / operations }
    }
  }
  const { country, location } = tables
  const made = new GeoTables(buffers.million)
  const rowsOf = (table: { count4: number; count6: number }): number => table.count4 + table.count6
  const rows = {
    'countries of the world': rowsOf(country!.ranges),
    'places of the world': rowsOf(location!.ranges),
    'made-up countries': rowsOf(made.country!.ranges),
    'made-up operators': rowsOf(made.asn!.ranges),
  }
  return { rounds, operations: times, rows, kinds }
}

const result = await measureAll()
process.stdout.write(`${JSON.stringify(result)}\n`)
