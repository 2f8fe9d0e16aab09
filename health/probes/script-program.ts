// Finds the program of a script check: a file of the node, or a text in the check.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HealthCheckModel } from '#bundle/format/model.ts'

export interface Program {
  readonly file: string
  readonly args: readonly string[]
  /** To be called when the program has ended. */
  readonly remove: () => void
}

/** @throws the file system's error, when the text cannot be written */
export function programOf({ scriptContent, scriptPath }: HealthCheckModel): Program {
  if (scriptContent === '') return { file: scriptPath, args: [], remove: () => undefined }
  const directory = mkdtempSync(join(tmpdir(), 'gslbd-check-'))
  const remove = (): void => {
    rmSync(directory, { recursive: true, force: true })
  }
  const path = join(directory, 'script')
  try {
    writeFileSync(path, scriptContent, { mode: 0o700, flag: 'wx' })
  } catch (error) {
    remove()
    throw error
  }
  // Run by its interpreter, not as a program: directories for temporary files often forbid
  // programs, and a file that was just written may still be busy.
  const [file, ...args] = interpreterOf(scriptContent)
  return { file, args: [...args, path], remove }
}

/** The rest of the line is one argument, as for execve(2). */
export function interpreterOf(script: string): readonly [file: string, ...args: string[]] {
  const line = /^#![ \t]*([^ \t\r\n]+)[ \t]*([^\r\n]*)/.exec(script)
  if (line === null) return ['/bin/sh']
  const [, file = '', rest = ''] = line
  const argument = rest.trimEnd()
  return argument === '' ? [file] : [file, argument]
}
