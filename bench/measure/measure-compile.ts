// A process that compiles a generated configuration, cold and after changes of one file, and
// reports the cost. Run by the benchmark `compile`: a fresh process for each cold compilation.
import { createCompiler } from '#compiler/compile.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import { manyFiles, sourceFile, withPool } from '../data/many-files.ts'
import { residentBytes } from '../support/process-cpu.ts'

export interface CompileResult {
  readonly files: number
  readonly inputBytes: number
  readonly bundleBytes: number
  readonly coldMs: number
  /** After a change of one pool's file. */
  readonly changedMs: readonly number[]
  readonly peakBytes: number
}

const changes = 5

function compileMany(services: number): CompileResult {
  const files = manyFiles(services).map(({ path, text }) => sourceFile(path, text))
  const compiler = createCompiler()
  const timed = (given: readonly SourceFile[]): { ms: number; bundleBytes: number } => {
    const startedMs = performance.now()
    const result = compiler.compile(given, { commit: 'a'.repeat(40) })
    const ms = performance.now() - startedMs
    if (!result.ok) throw new Error(JSON.stringify(result.diagnostics[0]))
    return { ms, bundleBytes: result.bundle.bytes.length }
  }
  const cold = timed(files)
  const changedMs = Array.from({ length: changes }, (_, i) => {
    const changed = withPool(0, `10.99.${i}.1`)
    const next = files.map((file) =>
      file.path === changed.path
        ? sourceFile(changed.path, changed.text)
        : { ...file, bytes: null },
    )
    return timed(next).ms
  })
  return {
    files: files.length,
    inputBytes: files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    bundleBytes: cold.bundleBytes,
    coldMs: cold.ms,
    changedMs,
    peakBytes: residentBytes('self').peak,
  }
}

process.stdout.write(`${JSON.stringify(compileMany(Number(process.argv[2])))}\n`)
