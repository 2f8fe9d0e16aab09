// Loaded before a process's own modules: at its end it says what it took: memory and CPU time.
import { isMainThread } from 'node:worker_threads'

const kibibytes = 1024
if (isMainThread) {
  process.on('exit', () => {
    const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage()
    const cpuMs = Math.round((userCPUTime + systemCPUTime) / 1000)
    process.stderr.write(`peak ${Math.round(maxRSS / kibibytes)} cpu ${cpuMs}\n`)
  })
}
