// Finds the code by which Redis, the library or the system names a fault.

/** The first word of Redis's message, or the system's code; never a value. */
export function wordOf(error: unknown): string {
  if (!(error instanceof Error)) return 'UNKNOWN'
  if (error instanceof AggregateError && error.errors.length > 0) return wordOf(error.errors[0])
  if ('code' in error && typeof error.code === 'string') return error.code
  return /^[A-Z]{3,20}\b/.exec(error.message)?.[0] ?? error.constructor.name
}

/** Codes that mean that another Redis takes writes now. */
const elsewhere: readonly string[] = ['READONLY', 'MOVED', 'CLUSTERDOWN', 'MASTERDOWN', 'ASK']

/** Codes of a reachable Redis that refuses writes. */
const refusals: readonly string[] = ['NOREPLICAS', 'OOM', 'MISCONF', 'NOPERM', 'READONLY']

export const isRefusal = (word: string): boolean => refusals.includes(word)

export const isElsewhere = (word: string): boolean => elsewhere.includes(word)
