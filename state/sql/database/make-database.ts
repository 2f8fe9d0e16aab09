// Makes an empty embedded database: unpacks the template, or runs initdb in a thread.
import { renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { flushDirectory } from '#lib/durable-file.ts'
import { unpackTemplate } from './database-template.ts'

/**
 * Without a template PostgreSQL's initdb runs: 4 s of CPU without a pause and 500 MiB. On the main
 * thread it would block health checks, requests and signals.
 *
 * The database is made beside `directory` and renamed, so that a killed node leaves nothing that
 * looks like a database.
 *
 * @param templates the first that fits is used
 * @throws the error of PostgreSQL or of the file system; once `signal` is aborted, its reason
 */
export async function makeDatabase(
  directory: string,
  signal: AbortSignal,
  templates: readonly string[],
): Promise<void> {
  const draft = `${directory}.new`
  rmSync(draft, { recursive: true, force: true })
  try {
    if (!(await isUnpacked(templates, draft, signal))) await runThread(draft, signal)
    signal.throwIfAborted()
    renameSync(draft, directory)
    flushDirectory(dirname(directory))
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

async function isUnpacked(
  templates: readonly string[],
  draft: string,
  signal: AbortSignal,
): Promise<boolean> {
  for (const file of templates) if (await unpackTemplate(file, draft, signal)) return true
  return false
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
