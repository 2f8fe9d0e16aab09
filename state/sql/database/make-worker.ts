// The entry of a thread that makes an empty embedded database.
import { workerData } from 'node:worker_threads'
import { yieldToAnswers } from '#lib/thread/background-thread.ts'
import { openPglite } from './open-pglite.ts'

yieldToAnswers()
const pglite = await openPglite(workerData as string)
await pglite.close()
