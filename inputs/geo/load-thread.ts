// Loads a geo database in a thread of its own, whose memory is freed with it, except the tables.
import { Worker } from 'node:worker_threads'
import { geoLimits } from './limits.ts'
import type { GeoLoaded, GeoLoadRequest, GeoNotLoaded } from './load.ts'

export interface GeoLoading {
  readonly done: Promise<GeoLoaded | GeoNotLoaded>
  /** Ends the thread; its result is then an error. */
  readonly stop: () => Promise<unknown>
}

export function loadGeoInThread(request: GeoLoadRequest): GeoLoading {
  const worker = new Worker(new URL('./load-worker.ts', import.meta.url), {
    name: 'gslbd-geo',
    workerData: request,
    resourceLimits: { maxOldGenerationSizeMb: geoLimits.workerHeapMbMax },
  })
  const stop = (): Promise<unknown> => worker.terminate()
  const deadline = setTimeout(() => void stop(), geoLimits.loadMsMax)
  const done = new Promise<GeoLoaded | GeoNotLoaded>((resolve) => {
    const refuse = (why: string): void => {
      const error = `the database ${request.path} could not be loaded: ${why}`
      resolve({ ok: false, fingerprint: undefined, error })
    }
    worker.once('message', resolve)
    worker.once('error', (error) => refuse(String(error)))
    worker.once('exit', () => {
      clearTimeout(deadline)
      refuse(`it took longer than ${geoLimits.loadMsMax / 1_000} s`)
    })
  })
  return { done, stop }
}
