// The interface of an object rule: a function from one object to findings.
import type { Kind, ObjectOf } from '#schemas/kinds.ts'
import type { Report } from '#diagnostics/finding.ts'

/** Checks one object alone; its findings are kept with the file. */
export type ObjectRule<K extends Kind> = (object: ObjectOf[K], report: Report) => void
