// Compiles a folder or a case, with the entries that no folder in Git can hold.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createCompiler } from '#compiler/compile.ts'
import type { CompileResult } from '#compiler/compile.ts'
import { strictPolicy } from '#compiler/values/health-check-policy.ts'
import type { HealthCheckPolicy } from '#compiler/values/health-check-policy.ts'
import type { DiagnosticReport } from '#diagnostics/diagnostic.ts'
import { SourcePositions } from '#diagnostics/print/position.ts'
import type { CompileLimits } from '#compiler/rules/tree/tree-rule.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import { bundleLimits } from '#bundle/format/limits.ts'
import { loadScriptCheck } from '#routing/script/check.ts'
import { readConfigDirectory } from '#gitops/checkout/config-directory.ts'
import { observeUse } from '#cli/lint/observe-use.ts'
import { readUseReport } from '#cli/lint/use-report.ts'
import { createPolicyTests } from '#judge/policy-tests/run.ts'
import { sourcesOf } from '#test/support/case-file.ts'
import type { CaseFile } from '#test/support/case-file.ts'
import { hash } from 'node:crypto'

/** `setup.json`: what a fixture needs besides its files. */
interface Setup {
  readonly entries?: readonly { readonly path: string; readonly kind: 'symlink' | 'submodule' }[]
  readonly pad?: { readonly path: string; readonly bytes: number }
  /**
   * Text that is appended to a file, since it is too long for a folder in Git. `#`: number of its
   * copy, in hex.
   */
  readonly fill?: { readonly path: string; readonly piece: string; readonly count: number }
  readonly limits?: Partial<CompileLimits>
  readonly refusal?: string
  /** Policy of the nodes; left out: nothing is allowed. */
  readonly checkPolicy?: Partial<HealthCheckPolicy>
  /** When the fixture is compiled. */
  readonly nowMs?: number
  /** Answer of a node at /api/v1/unused. */
  readonly use?: object
}

// Files of diagnostics have scripts, and are compiled without waiting.
await loadScriptCheck()

export function compileFixture(folder: string): CompileResult {
  const files = readConfigDirectory(folder)
  if (!files.ok) throw new Error(files.error)
  const path = join(folder, 'setup.json')
  return compileSources(files.value, existsSync(path) ? readFileSync(path, 'utf8') : '{}')
}

export function compileCase(given: CaseFile): CompileResult {
  const setup = given.files.get('setup.json')
  return compileSources(sourcesOf(given), new TextDecoder().decode(setup) || '{}')
}

function compileSources(files: readonly SourceFile[], setupText: string): CompileResult {
  const setup = JSON.parse(setupText) as Setup
  const entries = (setup.entries ?? []).map(({ path, kind }): SourceFile => ({
    path,
    kind,
    blobId: '',
    sizeBytes: 0,
    bytes: null,
  }))
  const { fill } = setup
  const sources = files.map((file): SourceFile => {
    if (file.path === fill?.path) {
      const pieces = Array.from({ length: fill.count }, (_, i) =>
        fill.piece.replace('#', i.toString(16)),
      )
      return sourceFile(file.path, new TextDecoder().decode(file.bytes!) + pieces.join(''))
    }
    if (file.path !== setup.pad?.path) return file
    return { ...file, sizeBytes: setup.pad.bytes, bytes: null }
  })
  const { refusal } = setup
  const compiler = createCompiler({
    limits: { ...bundleLimits, ...setup.limits },
    checkPolicy: { ...strictPolicy, ...setup.checkPolicy },
    policyTests: createPolicyTests(),
    ...(setup.use === undefined ? {} : { observe: observationOf(setup.use) }),
    ...(refusal === undefined ? {} : { load: () => refusal }),
  })
  const when = setup.nowMs === undefined ? {} : { nowMs: setup.nowMs }
  return compiler.compile([...sources, ...entries], { commit: '', ...when })
}

function observationOf(use: object) {
  const read = readUseReport(use)
  if (!read.ok) throw new Error(read.error)
  return observeUse(read.value).observe
}

/** `path:line:column code` of each diagnostic, in its order. */
export function placesOf(report: DiagnosticReport): string[] {
  const positions = new SourcePositions(report.sources)
  return report.diagnostics.map(({ code, spans: [first] }) => {
    const { line, column } = positions.positionOf(first.path, first.start)
    return `${first.path}:${line}:${column} ${code}`
  })
}

export function sourceFile(path: string, text: string): SourceFile {
  const bytes = new TextEncoder().encode(text)
  return { path, blobId: hash('sha1', bytes), kind: 'file', sizeBytes: bytes.length, bytes }
}
