// Describes the machine and the programs of a result.
import { cpus, loadavg, release, totalmem } from 'node:os'
import { versionOf } from '../servers/program.ts'

interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryGib: number
  readonly kernel: string
  readonly node: string
  readonly v8: string
  readonly gdnsd: string
  readonly knot: string
  readonly nsd: string
  readonly dnsperf: string
  /** Load average of the minute before the run: above 0.5 the numbers are unreliable. */
  readonly loadBefore: number
}

export function describeMachine(): Machine {
  const cores = cpus()
  return {
    cpu: cores[0]?.model.trim() ?? 'unknown',
    cores: cores.length,
    memoryGib: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.version,
    v8: process.versions.v8,
    gdnsd: versionOf('gdnsd', ['-V'], /\d+\.\d[\w.+-]*/),
    knot: versionOf('knotd', ['-V'], /\d+\.\d[\w.+-]*/),
    nsd: versionOf('nsd', ['-v'], /\d+\.\d[\w.+-]*/),
    dnsperf: versionOf('dnsperf', ['-h'], /(?<=Version )[\d.]+/),
    loadBefore: loadavg()[0]!,
  }
}

/** One line per fact. */
export function machineLines(machine: Machine): string[] {
  const { cpu, cores, memoryGib, kernel, node, v8, gdnsd, knot, nsd, dnsperf } = machine
  return [
    `machine: ${cpu}, ${cores} cores, ${memoryGib} GiB, Linux ${kernel}`,
    `node ${node} (V8 ${v8}); gdnsd ${gdnsd}; Knot ${knot}; NSD ${nsd}; dnsperf ${dnsperf}`,
    `load average of the minute before: ${machine.loadBefore.toFixed(2)}`,
  ]
}
