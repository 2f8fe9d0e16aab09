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

/**
 * Why the data directory does not take what is to be stored; null: it does.
 *
 * @param fault why it could not be taken at all
 * @param git how the repository in it is, which each change writes to first
 */
export function faultOfDisk(
  fault: string | null,
  git: { readonly code: string; readonly reason: string },
): string | null {
  return fault ?? (git.code === 'DiskFull' ? git.reason : null)
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
