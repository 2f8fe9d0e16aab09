// Checks a faulty file again with its look-alike characters replaced: a fault that disappears with
// one was caused by it.
import { diagnosticSpecs } from '#diagnostics/diagnostics.ts'
import type { SeverityCounts } from '#diagnostics/diagnostic.ts'
import type { LocalFinding } from '#diagnostics/finding.ts'
import { readYaml } from '#compiler/yaml/document.ts'
import type { YamlDocument } from '#compiler/yaml/document.ts'
import { hasLookalike } from '#compiler/yaml/mistakes/lookalikes.ts'

/** Longer than texts from word processors; the text is read three times. */
const textMax = 100_000

interface Checked {
  readonly text: string
  readonly findings: readonly LocalFinding[]
  readonly findingsLeftOut: SeverityCounts
}

/** @param check reads the file with this text */
export function withLookalikes<File extends Checked>(
  first: File,
  check: (yaml: YamlDocument) => File,
): File {
  const { text } = first
  const errors = first.findings.filter(isError)
  if (errors.length === 0 || text.length > textMax || !hasLookalike(text)) return first
  const yaml = readYaml(text, errors.map(startOf))
  if (!yaml.isWhole || !yaml.findings.some(isLookalike)) return first
  // Without look-alike findings, which hide other faults at their places.
  const second = check({ ...yaml, findings: yaml.findings.filter((one) => !isLookalike(one)) })
  if (first.findingsLeftOut.error > 0 || second.findingsLeftOut.error > 0) return first
  const left = new Set(second.findings.map(keyOf))
  const gone = errors.filter((one) => !isLookalike(one) && !left.has(keyOf(one)))
  return gone.length === 0 ? first : check(readYaml(text, gone.map(startOf)))
}

function isError({ code }: LocalFinding): boolean {
  return diagnosticSpecs[code].severity === 'error'
}

function isLookalike({ code }: LocalFinding): boolean {
  return code === 'yaml-lookalike'
}

function startOf({ spans }: LocalFinding): number {
  return spans[0].start
}

function keyOf(finding: LocalFinding): string {
  return `${startOf(finding)} ${finding.code}`
}
