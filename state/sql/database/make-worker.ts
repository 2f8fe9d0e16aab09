// The entry of a thread that makes an empty embedded database.
import { workerData } from 'node:worker_threads'
import { openPglite } from './open-pglite.ts'

const pglite = await openPglite(workerData as string)
await pglite.close()
