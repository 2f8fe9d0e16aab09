// A control group with a memory limit, like that of a container, where this machine permits it.
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface MemoryLimit {
  /** File that takes the ids of processes to limit. */
  readonly procs: string
  /** Peak memory of its processes. */
  readonly peakBytes: () => number
  /** Call it after its processes have ended. */
  readonly remove: () => void
}

const hierarchies = [
  {
    root: '/sys/fs/cgroup/memory',
    limit: 'memory.limit_in_bytes',
    peak: 'memory.max_usage_in_bytes',
  },
  { root: '/sys/fs/cgroup', limit: 'memory.max', peak: 'memory.peak' },
] as const

/** undefined: not permitted here. */
export function limitMemory(bytes: number): MemoryLimit | undefined {
  for (const { root, limit, peak } of hierarchies) {
    const folder = join(root, `gslbd-test-${process.pid}-${Math.floor(performance.now())}`)
    try {
      mkdirSync(folder)
    } catch {
      continue
    }
    const remove = () => rmdirSync(folder)
    if (!existsSync(join(folder, limit))) {
      remove()
      continue
    }
    writeFileSync(join(folder, limit), String(bytes))
    return {
      procs: join(folder, 'cgroup.procs'),
      peakBytes: () => Number(readFileSync(join(folder, peak), 'utf8')),
      remove,
    }
  }
  return undefined
}

/** The most that a running process had in memory so far. */
export function peakResidentBytes(pid: number): number {
  const [, kilobytes] =
    /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1024
}
