// A process that writes bundles of many services to files, and says what encoding them took.
// Run by `bundleFiles`: the model's memory must not count as the node's.
import { writeFileSync } from 'node:fs'
import { encodeBundle } from '#bundle/encode.ts'
import type { BundleModel } from '#bundle/model.ts'
import { strategyNamed } from '#routing/strategies.ts'
import { manyServices } from './many-services.ts'
import { residentBytes } from './process-cpu.ts'
import { runForJson } from './program.ts'

export interface BundleSpec {
  readonly services: number
  readonly pools: number
  /** `mixed`: the three algorithms in turn. */
  readonly algorithm?: string
}

export interface BundleFiles {
  /** Two bundles that differ in the TTL of one service. Not signed. */
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
}: BundleSpec): BundleModel {
  const model = manyServices(services, { pools })
  const nameOf = (i: number): string =>
    algorithm === 'mixed' ? algorithms[i % algorithms.length]! : algorithm
  return { ...model, services: model.services.map((s, i) => ({ ...s, algorithm: nameOf(i) })) }
}

export const codeOfStrategy = (name: string): number => strategyNamed(name)!.code

function writeBundles(directory: string, label: string, spec: BundleSpec): BundleFiles {
  const model = benchModel(spec)
  const paths = [`${directory}/${label}-a.bundle`, `${directory}/${label}-b.bundle`] as const
  const startedMs = performance.now()
  const { bytes } = encodeBundle(model, codeOfStrategy)
  const encodeMs = performance.now() - startedMs
  writeFileSync(paths[0], bytes)
  const services = model.services.map((s, i) => (i === 0 ? { ...s, ttlSeconds: 61 } : s))
  writeFileSync(paths[1], encodeBundle({ ...model, services }, codeOfStrategy).bytes)
  const peakBytes = residentBytes('self').peak
  return { paths, fileBytes: bytes.length, encodeMs, peakBytes }
}

if (import.meta.main) {
  const [directory = '', label = '', spec = ''] = process.argv.slice(2)
  const done = writeBundles(directory, label, JSON.parse(spec) as BundleSpec)
  process.stdout.write(`${JSON.stringify(done)}\n`)
}
