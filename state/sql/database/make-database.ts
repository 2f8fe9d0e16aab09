// Makes an empty embedded database in a thread of its own, which can be called off.
import { renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { flushDirectory } from '#lib/durable-file.ts'

/**
 * PostgreSQL's initdb takes 4 s of CPU without a pause. On the main thread, no health check, no
 * request and no signal would be handled meanwhile: half a minute on a busy machine.
 *
 * The database is made beside `directory` and renamed: a node that is killed meanwhile leaves
 * nothing that looks like a database.
 *
 * @throws the error of PostgreSQL or of the file system; once `signal` is aborted, its reason
 */
export async function makeDatabase(directory: string, signal: AbortSignal): Promise<void> {
  const draft = `${directory}.new`
  rmSync(draft, { recursive: true, force: true })
  try {
    await runThread(draft, signal)
    signal.throwIfAborted()
    renameSync(draft, directory)
    flushDirectory(dirname(directory))
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

async function runThread(draft: string, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const url = new URL('./make-worker.ts', import.meta.url)
  const worker = new Worker(url, { name: 'make-database', workerData: draft })
  const cutOff = (): void => void worker.terminate()
  signal.addEventListener('abort', cutOff)
  try {
    await new Promise<void>((resolve, reject) => {
      worker.once('error', reject).once('exit', (code) => {
        if (code === 0) resolve()
        else reject(new Error(`the thread ended with ${code}`))
      })
    })
  } finally {
    signal.removeEventListener('abort', cutOff)
    signal.throwIfAborted()
  }
}
