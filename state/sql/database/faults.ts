// Classifies database errors by their meaning for the call: retry, unknown outcome, refused, or a
// bug of ours.
import type { StoreFailure } from '#state/ports/store-result.ts'

/**
 * `untouched`: nothing was changed, a retry may succeed. `unknown`: it may have been done; only
 * idempotent work is retried. `refused`: the values cannot be stored. `bug`: the statement is
 * wrong.
 */
type SqlFaultKind = 'untouched' | 'unknown' | 'refused' | 'bug'

export interface SqlFault {
  readonly kind: SqlFaultKind
  /** SQLSTATE, or the code of the operating system. */
  readonly code: string
  /**
   * The server's message about the connection, such as PgBouncer's refusals; '' otherwise, since
   * other messages may contain values of rows.
   */
  readonly words: string
}

/** By SQLSTATE, longest prefix first (PostgreSQL manual, appendix A). */
const states: readonly [prefix: string, kind: SqlFaultKind][] = [
  ['57P05', 'untouched'], // idle_session_timeout
  ['57P', 'untouched'], // shut down, crashed, or still starting
  ['57014', 'untouched'], // cancelled: it took too long
  ['55P03', 'untouched'], // a lock was not to be had
  ['40', 'untouched'], // rolled back for another transaction's sake
  ['25P', 'untouched'], // the transaction was ended
  ['25006', 'untouched'], // read-only: a standby that will be promoted
  ['08', 'unknown'], // connection
  ['53', 'untouched'], // disk, memory, connections
  ['58', 'untouched'], // the operating system, below the database
  ['28', 'untouched'], // the password is wrong; somebody may be changing it
  ['3D', 'untouched'], // the database does not exist yet
  ['42P01', 'untouched'], // our tables are gone: it was emptied, or is being restored
  ['42703', 'untouched'], // so is a column: an older copy was restored
  ['3F', 'untouched'], // so is the schema
  ['42501', 'untouched'], // our user has lost a right
  ['XX', 'untouched'], // the server met its own bug
  ['22', 'refused'],
  ['23', 'refused'],
]

/** Errors before there is a connection: nothing can have been done. */
const beforeConnection: readonly string[] = [
  'ECONNREFUSED',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EACCES',
]

export function sqlFault(error: unknown): SqlFault {
  const { code, message } = partsOf(error)
  if (/^[0-9A-Z]{5}$/.test(code) && !code.startsWith('E')) {
    const kind = states.find(([prefix]) => code.startsWith(prefix))?.[1] ?? 'bug'
    return { kind, code, words: code.startsWith('08') ? plainMessage(message) : '' }
  }
  if (beforeConnection.includes(code)) return { kind: 'untouched', code, words: '' }
  if (message.includes('trying to connect')) {
    return { kind: 'untouched', code: 'ETIMEDOUT', words: '' }
  }
  return { kind: 'unknown', code: code === '' ? 'connection lost' : code, words: '' }
}

const messageLengthMax = 200

/** One line, no longer than a sentence. */
function plainMessage(message: string): string {
  const line = message.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim()
  return line.slice(0, messageLengthMax)
}

/** `08P01: unsupported startup parameter: statement_timeout`. */
const reasonOf = ({ code, words }: SqlFault): string => (words === '' ? code : `${code}: ${words}`)

/** Prefixes of codes that concern one statement or transaction, not the server. */
const ownFaults: readonly string[] = ['40', '55P03', '57014', '25P']

/** Codes of a server that is where it was, and lacks what is ours. */
export const isOfSchema = ({ code }: SqlFault): boolean => /^(42|3F)/.test(code)

/** Code of a server that takes no writes. */
export const isReadOnly = ({ code }: SqlFault): boolean => code === '25006'

/** True when the server is away or out of order. */
export function isServerFault({ kind, code }: SqlFault): boolean {
  const isAny = kind === 'untouched' || kind === 'unknown'
  return isAny && !ownFaults.some((prefix) => code.startsWith(prefix))
}

export function failureOf(fault: SqlFault): StoreFailure {
  const { kind, code } = fault
  if (kind === 'refused') {
    return { code: 'store-refused', message: `The database refused the values (${code}).` }
  }
  return { code: 'store-away', message: advised('The database did not do it', fault) }
}

const emptied =
  'What gslbd has made in it is not there: it was emptied, is being restored, or is an older ' +
  'copy. Restore it; or restart the nodes, which make what is missing.'

/** Advice for the operator, by SQLSTATE. */
const serverAdvice: Readonly<Record<string, string>> = {
  '25006': 'Every server that answers is a standby, which takes no writes: promote one.',
  '28P01': 'The server refuses the password.',
  '3D000': 'The server has no database of that name.',
  '3F000': emptied,
  '42501': 'The user of database.url lacks a right to its tables or its schema: grant it.',
  '42703': emptied,
  '42P01': emptied,
  '53300': 'The server has as many connections as it takes.',
}

/** `what`, the reason, and what helps, where that is known. */
export function advised(what: string, fault: SqlFault): string {
  const advice = /startup parameter/.test(fault.words) ? poolerRemedy : serverAdvice[fault.code]
  return `${what} (${reasonOf(fault)}).${advice === undefined ? '' : ` ${advice}`}`
}

const poolerRemedy = 'It is a pooler: set database.startupParameters to false.'

function partsOf(error: unknown): { code: string; message: string } {
  if (!(error instanceof Error)) return { code: '', message: '' }
  // Several addresses of one host were tried; the last error stands for all.
  if (error instanceof AggregateError && error.errors.length > 0) {
    return partsOf(error.errors.at(-1))
  }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return { code, message: error.message }
}
