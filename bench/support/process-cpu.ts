// Reads CPU time from the kernel's accounting: all threads of a process and of its children.
import { readdirSync, readFileSync } from 'node:fs'

export interface CpuTime {
  /** Nanoseconds on a core, from schedstat: exact. */
  readonly totalNs: number
  /** Clock ticks (usually 10 ms): only good for the ratio. */
  readonly userTicks: number
  readonly systemTicks: number
}

export interface CpuPerQuery {
  readonly userMicros: number
  readonly systemMicros: number
  readonly totalMicros: number
}

export function cpuTime(pid: number): CpuTime {
  const sum = { totalNs: 0, userTicks: 0, systemTicks: 0 }
  for (const one of processTree(pid)) {
    for (const thread of readdirSync(`/proc/${one}/task`)) {
      sum.totalNs += Number(
        readFileSync(`/proc/${one}/task/${thread}/schedstat`, 'utf8').split(' ')[0],
      )
    }
    // Fields after the name, which may contain anything: state is field 3, utime 14, stime 15.
    const fields = readFileSync(`/proc/${one}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    sum.userTicks += Number(fields[11])
    sum.systemTicks += Number(fields[12])
  }
  return sum
}

/** The process and its descendants: a server may answer from a child. */
export function processTree(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
  )
  return [pid, ...children.flatMap((child) => processTree(Number(child)))]
}

export function cpuPerQuery(before: CpuTime, after: CpuTime, queries: number): CpuPerQuery {
  const totalMicros = (after.totalNs - before.totalNs) / 1_000 / queries
  const user = after.userTicks - before.userTicks
  const system = after.systemTicks - before.systemTicks
  const userMicros = (totalMicros * user) / Math.max(1, user + system)
  return { userMicros, systemMicros: totalMicros - userMicros, totalMicros }
}

/** Resident and peak memory, in octets. */
export function residentBytes(pid: number | 'self'): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const kib = (field: string): number =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? Number.NaN)
  return { now: kib('VmRSS') * 1_024, peak: kib('VmHWM') * 1_024 }
}
