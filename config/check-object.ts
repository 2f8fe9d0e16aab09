// Checks one object with the compiler's rules before a file is written; faults are reported by
// field.
import { configEntry } from './entry.ts'
import type { ConfigEntry } from './entry.ts'
import { diagnosticSpecs, helpOf, messageOf } from '#diagnostics/diagnostics.ts'
import type { Report } from '#diagnostics/finding.ts'
import { checksOf } from '#compiler/rules/object/object-rules.ts'
import { reportFaults } from '#compiler/read/shape.ts'
import type { JsonObject } from '#compiler/yaml/text.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { Kind, ObjectOf } from '#schemas/kinds.ts'
import { validate } from '#schemas/validator.ts'
import type { WriteDiagnostic } from './operation.ts'

/**
 * Checks an object of a file.
 * @param value parsed file, which is not changed. Errors: at least one diagnostic.
 */
export function checkObject(
  kind: Kind,
  path: string,
  value: JsonObject,
): Result<ConfigEntry, readonly WriteDiagnostic[]> {
  const found: WriteDiagnostic[] = []
  const report: Report = (code, place, { args = [], suggestion = '' } = {}) => {
    if (diagnosticSpecs[code].severity !== 'error') return
    const hint = suggestion === '' ? '' : `did you mean "${suggestion}"? `
    found.push({
      code,
      message: messageOf({ code, args }),
      help: hint + helpOf({ code, args }),
      field: place.path.join('.'),
      file: path,
      line: 0,
    })
  }
  const object = structuredClone(value) as unknown as ObjectOf[Kind]
  const faults = validate(kind, object)
  if (faults.length > 0) reportFaults(faults, report, kind)
  else {
    for (const check of checksOf(kind, report)) check(object)
  }
  return found.length > 0 ? err(found) : ok(configEntry(path, '', kind, object))
}
