// Loaded before a process's own modules: at its end it says what it took: memory and CPU time.
import { isMainThread } from 'node:worker_threads'
import { peakResidentBytes } from './memory-limit.ts'

if (isMainThread) {
  process.on('exit', () => {
    const { userCPUTime, systemCPUTime } = process.resourceUsage()
    const cpuMs = Math.round((userCPUTime + systemCPUTime) / 1000)
    // Not maxRSS: that begins with what the parent had when it started this process.
    const peakMb = Math.round(peakResidentBytes(process.pid) / 2 ** 20)
    process.stderr.write(`peak ${peakMb} cpu ${cpuMs}\n`)
  })
}
