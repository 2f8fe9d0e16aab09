// A directory of the whole run, shared by the files of one process; removed at the end.
import type { TestProject } from 'vitest/node'
import { makeTempDir, removeTempDir } from './temp-dir.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A directory of this run alone. */
    readonly runDirectory: string
  }
}

const paths: string[] = []

export function setup(project: TestProject): void {
  const path = makeTempDir('run')
  paths.push(path)
  project.provide('runDirectory', path)
}

export function teardown(): void {
  for (const path of paths) removeTempDir(path)
}
