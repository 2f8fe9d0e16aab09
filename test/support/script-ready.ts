// A thread that has no script engine yet: says after which of the files it has one.
import { parentPort, workerData } from 'node:worker_threads'
import { readyForScripts, scriptMistake } from '#compiler/scripts/script-syntax.ts'

function isReady(): boolean {
  try {
    return scriptMistake('result = []') === undefined
  } catch {
    return false
  }
}

const seen: boolean[] = []
for (const text of workerData as readonly string[]) {
  await readyForScripts([{ bytes: Buffer.from(text) }])
  seen.push(isReady())
}
parentPort?.postMessage(seen)
