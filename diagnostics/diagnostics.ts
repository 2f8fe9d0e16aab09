// The table of diagnostics. Adding one means one row in its area, one file in
// `test/fixtures/diagnostics/`.
import { chainDiagnostics } from './chains.ts'
import { deliveryDiagnostics } from './deliveries.ts'
import { extensionDiagnostics } from './extensions.ts'
import { fileDiagnostics } from './files.ts'
import { healthDiagnostics } from './health.ts'
import { hostnameDiagnostics } from './hostnames.ts'
import { nameDiagnostics } from './names.ts'
import { networkDiagnostics } from './networks.ts'
import { overlayDiagnostics } from './overlays.ts'
import { policyTestDiagnostics } from './policy-tests.ts'
import { poolDiagnostics } from './pools.ts'
import { recordDiagnostics } from './records.ts'
import { redundancyDiagnostics } from './redundancy.ts'
import { responseRuleDiagnostics } from './response-rules.ts'
import { shapeDiagnostics } from './shape.ts'
import { useDiagnostics } from './use.ts'
import { yamlDiagnostics } from './yaml.ts'
import { zoneDiagnostics } from './zones.ts'
import type { DiagnosticSpec } from './diagnostic-spec.ts'

const table = {
  ...fileDiagnostics,
  ...yamlDiagnostics,
  ...shapeDiagnostics,
  ...nameDiagnostics,
  ...zoneDiagnostics,
  ...poolDiagnostics,
  ...hostnameDiagnostics,
  ...healthDiagnostics,
  ...chainDiagnostics,
  ...networkDiagnostics,
  ...responseRuleDiagnostics,
  ...extensionDiagnostics,
  ...overlayDiagnostics,
  ...deliveryDiagnostics,
  ...recordDiagnostics,
  ...policyTestDiagnostics,
  ...redundancyDiagnostics,
  ...useDiagnostics,
}

export type DiagnosticCode = keyof typeof table

export const diagnosticSpecs: Readonly<Record<DiagnosticCode, DiagnosticSpec>> =
  Object.freeze(table)

export const diagnosticCodes = Object.freeze(Object.keys(table)) as readonly DiagnosticCode[]

interface CodeWithArgs {
  readonly code: DiagnosticCode
  readonly args: readonly string[]
}

/** Returns the message of a finding, one sentence. */
export function messageOf(diagnostic: CodeWithArgs): string {
  return filled(diagnosticSpecs[diagnostic.code].message, diagnostic.args, 0)
}

/** The message as seen from the other place; undefined: `messageOf` is right there as well. */
export function messageOfOther({ code, args }: CodeWithArgs): string | undefined {
  const template = diagnosticSpecs[code].messageOfOther
  return template === undefined ? undefined : filled(template, args, 0)
}

/** The name that a policy test asks for; undefined: the finding is about none. */
export function askedName({ code, args }: CodeWithArgs): string | undefined {
  const { askedArg } = diagnosticSpecs[code]
  return askedArg === undefined ? undefined : args[askedArg]
}

/** Returns the remedy of a finding, which takes the arguments that the message leaves over. */
export function helpOf(diagnostic: CodeWithArgs): string {
  const { message, help } = diagnosticSpecs[diagnostic.code]
  return filled(help, diagnostic.args, message.split('%s').length - 1)
}

/** @returns '' also where the help says just that */
export function hintOf(suggestion: string, help: string): string {
  const isSaid = suggestion === '' || help === `write ${suggestion}`
  return isSaid ? '' : `did you mean "${suggestion}"?`
}

function filled(template: string, args: readonly string[], from: number): string {
  let next = from
  return template.replace(/%(?:(\d)\$)?s/g, (_, at?: string) =>
    shortened(args[at === undefined ? next++ : Number(at) - 1] ?? ''),
  )
}

/** Values come from files: a megabyte of text must not become a message. */
function shortened(text: string): string {
  return text.length > 300 ? `${text.slice(0, 299)}…` : text
}
