// Implements the compile port by the compiler: it returns a bundle, or diagnostics as plain values.
import { createCompiler } from '#compiler/compile.ts'
import type { DiagnosticReport } from '#diagnostics/diagnostic.ts'
import { askedName, hintOf, messageOfOther } from '#diagnostics/diagnostics.ts'
import { strictPolicy } from '#compiler/values/health-check-policy.ts'
import type { HealthCheckPolicy } from '#compiler/values/health-check-policy.ts'
import { withMoves } from '#compiler/lower/name-outline.ts'
import type { MovedBetween } from '#compiler/lower/name-outline.ts'
import { jsonDiagnostics } from '#diagnostics/print/json.ts'
import type { JsonDiagnostic } from '#diagnostics/print/json.ts'
import { printText } from '#diagnostics/print/text.ts'
import type { PolicyTests } from '#compiler/tree/policy-tests.ts'
import type { CompilePort } from './compile-port.ts'
import { limitsMoves } from '#judge/guard/moved-limit.ts'
import { gitLimits } from '#gitops/limits.ts'
import type { HeadDiagnostic } from '#gitops/status/status.ts'

/** A compile port that remembers what it compiled last, until `forget`. */
export interface RememberingCompiler extends CompilePort {
  /** Empties the memory: after a bug, nothing in it can be trusted. */
  readonly forget: () => void
}

export function createCompilePort(
  checkPolicy: HealthCheckPolicy = strictPolicy,
  policyTests: PolicyTests | null = null,
  movedBetween: MovedBetween | null = null,
): RememberingCompiler {
  const create = () => createCompiler({ checkPolicy, policyTests })
  let compiler = create()
  /** Set once a commit limits moved clients: one that drops the limit is compared as well. */
  let areMovesLimited = false
  return {
    has: (blobId) => compiler.has(blobId),
    forget: () => void (compiler = create()),
    learn: (files) => files.forEach((file) => compiler.learn(file)),
    compile(files, commit) {
      const result = compiler.compile(files, { commit })
      const diagnostics = plain(result)
      const { total, counts } = result
      if (!result.ok) return { ok: false, diagnostics, total, errors: counts.error }
      const { bytes, digest } = result.bundle
      const { read } = result
      areMovesLimited ||= limitsMoves(result.guardrails)
      let { outline } = result
      if (areMovesLimited && movedBetween !== null) {
        // A copy, since the compiler reuses its memory.
        const kept = Uint8Array.from(bytes)
        outline = () => withMoves(result.outline(), kept, movedBetween)
      }
      return { ok: true, bytes, digest, outline, read, diagnostics, total }
    },
  }
}

function plain(report: DiagnosticReport): HeadDiagnostic[] {
  const first = firstOf(report.diagnostics, gitLimits.diagnosticsMax)
  return jsonDiagnostics({ ...report, diagnostics: first }).map((diagnostic, index) => {
    const { code, severity, message, places } = diagnostic
    const [place] = places
    const one = { ...report, diagnostics: first.slice(index, index + 1), total: 1 }
    const other = messageOfOther(first[index]!)
    const asked = askedName(first[index]!)
    return {
      ...(asked === undefined ? {} : { asked }),
      ...(other === undefined ? {} : { messageOfOther: other }),
      severity,
      code,
      message,
      help: wholeHelp(diagnostic),
      file: place?.path ?? '',
      line: place?.line ?? 1,
      column: place?.column ?? 1,
      field: first[index]?.field ?? '',
      text: printText(one),
    }
  })
}

/**
 * The first diagnostics in their order, errors before others: a commit must not be refused without
 * a visible reason.
 */
function firstOf(all: DiagnosticReport['diagnostics'], max: number): typeof all {
  if (all.length <= max) return all
  const errors = all.filter(({ severity }) => severity === 'error').slice(0, max)
  const others = all.filter(({ severity }) => severity !== 'error').slice(0, max - errors.length)
  const kept = new Set([...errors, ...others])
  return all.filter((one) => kept.has(one))
}

/** Joins to the message what a terminal shows below it: the status has one line for each. */
function wholeHelp({ help, suggestion, places }: JsonDiagnostic): string {
  const hint = hintOf(suggestion, help)
  const others = places.slice(1).map(({ path, line, column }) => `${path}:${line}:${column}`)
  return `${hint === '' ? '' : `${hint} `}${help}${others.length === 0 ? '' : `; see also ${others.join(', ')}`}`
}
