// The table of output formats. Adding one means one file, one line here.
import type { DiagnosticReport } from '#diagnostics/diagnostic.ts'
import { printGithub } from './github.ts'
import { printJson } from './json.ts'
import { printSarif } from './sarif.ts'
import { printText } from './text.ts'

export const formats: Readonly<Record<string, (report: DiagnosticReport) => string>> =
  Object.freeze({
    text: printText,
    json: printJson,
    sarif: printSarif,
    github: printGithub,
  })
