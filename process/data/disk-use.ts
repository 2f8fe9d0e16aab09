// Reports the state of the data directory: its disk, and whether what should be stored is.
import { statfsSync } from 'node:fs'
import type { DataDirectorySnapshot } from '#metrics/snapshot.ts'

/** Free share of the disk, 0 to 1; null: unknown. */
export function freeRatioOf(path: string): number | null {
  try {
    const { bavail, blocks } = statfsSync(path)
    return blocks === 0 ? null : bavail / blocks
  } catch {
    return null
  }
}

/** @param fault why the directory cannot be used; null: it can */
export function dataDirectorySnapshot(
  path: string,
  fault: string | null,
  { active, isStored }: { readonly active: object | null; readonly isStored: boolean },
): DataDirectorySnapshot {
  const isWritable = fault === null && (active === null || isStored)
  return { freeRatio: freeRatioOf(path), isWritable }
}
