// Servers that are loaded at the same instant: who begins, and whose sample is whose.
import { expect, test } from 'vitest'
import { cells, duel, figureOf, growthTable } from '#bench/servers/duel.ts'
import type { Load, Sample } from '#bench/servers/duel.ts'
import type { RunningServer } from '#bench/servers/servers.ts'

const server = (name: 'gslbd' | 'gdnsd', port: number): RunningServer => ({
  ...{ name, port, pid: process.pid },
  stop: () => Promise.resolve(),
})
const [ours, theirs] = [server('gslbd', 1), server('gdnsd', 2)]
const sampleOf = (totalMicros: number): Sample => ({
  ...{ userMicros: 1, systemMicros: totalMicros - 1, totalMicros },
  queriesPerSecond: 1_000,
})
const run = { rounds: 3, seconds: 1 }

test('servers take turns to begin, and each keeps its samples', async () => {
  const orders: string[] = []
  const load: Load<Sample> = (servers) => {
    orders.push(servers.map(({ name }) => name).join(' '))
    return Promise.resolve(servers.map(({ name }) => sampleOf(name === 'gslbd' ? 3 : 4)))
  }
  const taken = await duel([ours, theirs], run, load)
  expect(orders).toEqual(['gslbd gdnsd', 'gdnsd gslbd', 'gslbd gdnsd'])
  expect(taken.ours.map(({ totalMicros }) => totalMicros)).toEqual([3, 3, 3])
  expect(taken.theirs.map(({ totalMicros }) => totalMicros)).toEqual([4, 4, 4])
  expect(figureOf(taken)).toEqual({ value: 0.75, unit: 'ratio', n: 3 })
  expect(cells(taken.ours)).toEqual(['1.00', '2.00', '3.00', '3.00..3.00', '1000'])
})

test('growth goes by services, and says nothing of a peer that is not there', async () => {
  const load: Load<Sample> = (servers) => Promise.resolve(servers.map(() => sampleOf(2)))
  const alone = await duel([ours], run, load)
  const pair = await duel([ours, theirs], run, load)
  const memory = [50 << 20, 40 << 20]
  const { rows } = growthTable(
    'Growth',
    [
      { services: 10_000, cold: alone, rest: alone, residentBytes: memory.slice(0, 1) },
      { services: 10, cold: pair, rest: pair, residentBytes: memory },
    ],
    [],
  )
  expect(rows).toEqual([
    ['10', '2.00', '2.00', '1.00', '1.00', '1.000', '1.000', '1.000..1.000', '50', '40'],
    ['10000', '2.00', '-', '1.00', '-', '-', '-', '-', '50', '-'],
  ])
})
