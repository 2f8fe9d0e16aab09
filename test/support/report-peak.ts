// Preloaded into a process: prints its peak memory and CPU time at the end.
import { isMainThread } from 'node:worker_threads'
import { peakResidentBytes } from './memory-limit.ts'

if (isMainThread) {
  process.on('exit', () => {
    const { userCPUTime, systemCPUTime } = process.resourceUsage()
    const cpuMs = Math.round((userCPUTime + systemCPUTime) / 1000)
    // Not maxRSS, which starts with the parent's memory at the fork.
    const peakMb = Math.round(peakResidentBytes(process.pid) / 2 ** 20)
    process.stderr.write(`peak ${peakMb} cpu ${cpuMs}\n`)
  })
}
