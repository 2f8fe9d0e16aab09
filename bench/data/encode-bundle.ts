// A process that encodes bundles of many services to files, and prints its cost. Run by
// `bundleFiles`, so that the model's memory does not count as the node's.
import { writeFileSync } from 'node:fs'
import { encodeBundle } from '#bundle/encode/encode.ts'
import type { BundleModel, ClientRanges, PoolModel } from '#bundle/format/model.ts'
import { plainCodeOf } from '#routing/choose/ways.ts'
import { manyServices } from './many-services.ts'
import { residentBytes } from '../support/process-cpu.ts'
import { runForJson } from '../servers/program.ts'

interface BundleSpec {
  readonly services: number
  readonly pools: number
  /** `mixed`: the three algorithms in turn. */
  readonly algorithm?: string
  /** Geo rules of each pool in each address family. Default none. */
  readonly rules?: number
  /** Number of the signing algorithm of the zone. Left out: unsigned. */
  readonly signing?: number
}

export interface BundleFiles {
  /** Two unsigned bundles that differ in the TTL of one service, and in a rule if there are any. */
  readonly paths: readonly [string, string]
  readonly fileBytes: number
  readonly encodeMs: number
  readonly peakBytes: number
}

const algorithms = ['round-robin', 'weighted-round-robin', 'failover']

/** Writes `<directory>/<label>-a.bundle` and `-b.bundle` in a process of its own. */
export async function bundleFiles(
  directory: string,
  label: string,
  spec: BundleSpec,
): Promise<BundleFiles> {
  const args = [import.meta.filename, directory, label, JSON.stringify(spec)]
  return runForJson<BundleFiles>(['--max-old-space-size=12000', ...args])
}

export function benchModel({
  services,
  pools,
  algorithm = 'round-robin',
  rules = 0,
  signing,
}: BundleSpec): BundleModel {
  const model = manyServices(services, { pools })
  const nameOf = (i: number): string =>
    algorithm === 'mixed' ? algorithms[i % algorithms.length]! : algorithm
  return {
    ...model,
    zones:
      signing === undefined
        ? model.zones
        : model.zones.map((one) => ({ ...one, algorithm: signing })),
    pools: model.pools.map((pool) => ({ ...pool, geoRules: rulesOf(pool, rules) })),
    services: model.services.map((s, i) => ({ ...s, algorithm: nameOf(i) })),
  }
}

/** Neighbouring rules name different members, so that each is a row. */
function rulesOf({ members }: PoolModel, rules: number): ClientRanges {
  const numbers = Array.from({ length: rules }, (_, i) => i)
  const endpoints = numbers.map((i) => [members[i % members.length]!.ipAddress])
  return {
    v4: numbers.map((i) => ({
      start: i * 2 ** 16,
      end: (i + 1) * 2 ** 16 - 1,
      endpoints: endpoints[i]!,
    })),
    v6: numbers.map((i) => ({
      start: (0x2a00n << 112n) + (BigInt(i) << 96n),
      end: (0x2a00n << 112n) + (BigInt(i + 1) << 96n) - 1n,
      endpoints: endpoints[i]!,
    })),
  }
}

/** Gives the last rule of the first pool another member. */
function withOtherRule(pools: readonly PoolModel[]): readonly PoolModel[] {
  const [first, ...others] = pools
  if (first === undefined) return pools
  const endpoints = [first.members[0]!.ipAddress, first.members[1]!.ipAddress]
  const v4 = first.geoRules.v4.map((range, i, all) =>
    i === all.length - 1 ? { ...range, endpoints } : range,
  )
  return [{ ...first, geoRules: { ...first.geoRules, v4 } }, ...others]
}

function writeBundles(directory: string, label: string, spec: BundleSpec): BundleFiles {
  const model = benchModel(spec)
  const paths = [`${directory}/${label}-a.bundle`, `${directory}/${label}-b.bundle`] as const
  const startedMs = performance.now()
  const { bytes } = encodeBundle(model, plainCodeOf)
  const encodeMs = performance.now() - startedMs
  writeFileSync(paths[0], bytes)
  const services = model.services.map((s, i) => (i === 0 ? { ...s, ttlSeconds: 61 } : s))
  const other = { ...model, services, pools: withOtherRule(model.pools) }
  writeFileSync(paths[1], encodeBundle(other, plainCodeOf).bytes)
  const peakBytes = residentBytes('self').peak
  return { paths, fileBytes: bytes.length, encodeMs, peakBytes }
}

if (import.meta.main) {
  const [directory = '', label = '', spec = ''] = process.argv.slice(2)
  const done = writeBundles(directory, label, JSON.parse(spec) as BundleSpec)
  process.stdout.write(`${JSON.stringify(done)}\n`)
}
