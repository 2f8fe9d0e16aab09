// Checks instants in files, and suggests the right form.
import { readInstant } from '#schemas/forms/instant.ts'
import type { Place } from '#diagnostics/diagnostic.ts'
import type { Report } from '#diagnostics/finding.ts'

/** @returns false, after a report, when the text is not an instant */
export function checkInstant(text: string, place: Place, report: Report): boolean {
  const { fault } = readInstant(text)
  if (fault === undefined) return true
  if (fault === 'no-zone') {
    const suggestion = text.length === 10 ? `${text}T00:00:00Z` : `${text}Z`
    report('time-without-zone', place, { args: [text, suggestion], suggestion })
  } else report('time-invalid', place, { args: [text] })
  return false
}

/** The form used in messages. */
export function instantText(atMs: number): string {
  return new Date(atMs).toISOString().replace('.000Z', 'Z')
}
