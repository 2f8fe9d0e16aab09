// Makes a temporary directory for one test, removed when the test ends.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Call it inside a test. @returns an absolute path without symbolic links. */
export function tempDir(label = 'test'): string {
  const path = makeTempDir(label)
  onTestFinished(() => removeTempDir(path))
  return path
}

/** For `beforeAll`, where no test is running: the caller removes it with `removeTempDir`. */
export function makeTempDir(label = 'test'): string {
  return realpathSync(mkdtempSync(join(tmpdir(), `gslbd-${label}-`)))
}

export function removeTempDir(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 3 })
}
