// Says that there are more answering threads than cores.
import { availableParallelism } from 'node:os'
import type { Log } from '#lib/log.ts'

export function warnOfManyThreads(threads: number, log: Log): void {
  const cores = availableParallelism()
  if (threads <= cores) return
  const has = `this machine has ${cores} ${cores === 1 ? 'core' : 'cores'}`
  log.warn(
    { threads, cores },
    `dns.threads is ${threads}, ${has}: more threads than cores answer no faster, ` +
      'and each takes memory and time to start',
  )
}
