// Preloaded into every thread of a daemon. A responder then takes `SLOW_RESPONDER_MS` of CPU to
// start, nearly all of it while it loads native code, as on a busy machine.
import { writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { workerData } from 'node:worker_threads'
import { isResponderStart } from '#server/threads/responder-control.ts'

const microsOfCore = (): number => {
  const { user, system } = process.threadCpuUsage()
  return user + system
}

if (isResponderStart(workerData)) {
  writeSync(1, 'a responder starts\n')
  const load = process.dlopen.bind(process)
  const endMicros = microsOfCore() + Number(process.env['SLOW_RESPONDER_MS']) * 1000
  process.dlopen = (module: object, ...rest: [string, number?]) => {
    do load({ ...module, exports: {} }, ...rest)
    while (microsOfCore() < endMicros)
    load(module, ...rest)
  }
  createRequire(import.meta.url)('koffi')
}
