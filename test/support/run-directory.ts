// A directory of the whole run, for what the files of one process share; removed when all have run.
import type { TestProject } from 'vitest/node'
import { makeTempDir, removeTempDir } from './temp-dir.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Of this run alone. */
    readonly runDirectory: string
  }
}

export default function setup(project: TestProject): () => void {
  const path = makeTempDir('run')
  project.provide('runDirectory', path)
  return () => removeTempDir(path)
}
