// Defines why an operation fails, as the API reports it.
import type { WriteDiagnostic, WriteFailure, WriteFailureCode } from './operation.ts'

export interface Fault {
  readonly code: WriteFailureCode
  readonly message: string
  readonly diagnostics: readonly WriteDiagnostic[]
}

export function fault(code: WriteFailureCode, message: string): Fault {
  return { code, message, diagnostics: [] }
}

/** Why a whole request fails, as no single operation of it does. */
export function failed(code: WriteFailureCode, message: string): WriteFailure {
  return { ...fault(code, message), operation: -1 }
}

/** Diagnostics by which somebody else already has the requested name or address. */
const taken: ReadonlySet<string> = new Set([
  'pool-name-duplicate',
  'service-name-duplicate',
  'object-name-duplicate',
  'tenant-name-duplicate',
  'tenant-duplicate',
  'uid-duplicate',
  'domain-duplicate',
  'member-duplicate',
  'redirect-source-duplicate',
  'delegated-domain-duplicate',
  'response-rule-duplicate',
  'rollout-member-taken',
  'rrset-duplicate',
  'record-beside-service',
  'record-beside-cname',
  'name-of-other',
  'name-not-owned',
])

export function isTaken(diagnosticCode: string): boolean {
  return taken.has(diagnosticCode)
}

/**
 * Makes the fault of a refused change from its diagnostics.
 * @param diagnostics errors, at least one
 */
export function faultOf(diagnostics: readonly WriteDiagnostic[]): Fault {
  const conflict = diagnostics.find(({ code }) => isTaken(code))
  const first = conflict ?? diagnostics[0]
  const where = first === undefined || first.field === '' ? '' : `${first.field}: `
  const message = `${where}${first?.message ?? 'the configuration would not compile'}`
  return { code: conflict === undefined ? 'invalid' : 'conflict', message, diagnostics }
}
