// Loaded before a process's own modules: at its end it says how much memory it had at most.
import { isMainThread } from 'node:worker_threads'

const kibibytes = 1024
if (isMainThread) {
  process.on('exit', () => {
    process.stderr.write(`peak ${Math.round(process.resourceUsage().maxRSS / kibibytes)}\n`)
  })
}
