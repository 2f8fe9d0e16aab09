// Tries to take the lock of each data directory that it is told, for data-dir.test.ts.
import { openDataDir } from '#process/data/data-dir.ts'
import type { DataDir } from '#process/data/data-dir.ts'

/** Lock to take, and the time: all takers try in the same instant. */
export interface Turn {
  readonly path: string
  readonly atMs: number
}

let held: DataDir | undefined
process.on('message', ({ path, atMs }: Turn) => {
  held?.release()
  // Busy, not asleep.
  while (Date.now() < atMs);
  const opened = openDataDir(path)
  held = opened.ok ? opened.value : undefined
  process.send?.(opened.ok ? 'taken' : opened.error)
})
process.on('disconnect', () => process.exit())
process.send?.('ready')
