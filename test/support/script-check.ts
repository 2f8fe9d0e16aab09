// A thread with a given stack: checks bodies, and again after engines were replaced.
import { parentPort, workerData } from 'node:worker_threads'
import { checkScript, loadScriptCheck } from '#routing/script/check.ts'
import { waitUntil } from './wait-until.ts'

await loadScriptCheck()
const said = (body: string): string => {
  const checked = checkScript(body)
  return checked.ok ? 'fine' : checked.error.message
}
const atOnce = (workerData as readonly string[]).map(said)
await waitUntil('an engine', () => said('result = []') === 'fine')
parentPort?.postMessage(atOnce)
