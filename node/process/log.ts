// The process log: one line per event, as JSON or as text.
import { pino } from 'pino'
import type { Log } from '#lib/log.ts'
import type { Settings } from '#settings/settings.ts'

export type LogLevel = Settings['logging']['level']

export interface LogForm {
  readonly format: 'text' | 'json'
  readonly level: LogLevel
  /** Accounts are named by their ids alone. */
  readonly isPseudonymous?: boolean
}

/** @param isTerminal whether the log is written to one: then a person reads it */
export function logFormOf(
  { format, level, pseudonymous }: Settings['logging'],
  { isTerminal }: { readonly isTerminal: boolean },
): LogForm {
  const fitting = isTerminal ? 'text' : 'json'
  return { format: format === 'auto' ? fitting : format, level, isPseudonymous: pseudonymous }
}

/** The whole logger; layers below see only `Log`. */
export interface ProcessLog extends Log {
  readonly debug: (fields: object, message: string) => void
  /** At level info, and written whatever the level is: a record that must not be missing. */
  readonly always: (fields: object, message: string) => void
  /** Takes effect with the next line; SIGHUP uses it. */
  readonly setLevel: (level: LogLevel) => void
}

/** Fields that are never written, wherever they stand (three levels deep). */
const secretFields = [
  'apiKey',
  'authorization',
  'cookie',
  'passphrase',
  'password',
  'privateKey',
  'secret',
  'token',
]

/**
 * @param write takes whole lines, with their line feed
 * @param takeLost how many lines before this one could not be written; asking forgets them
 */
export function createLog(
  { format, level, isPseudonymous = false }: LogForm,
  write: (line: string) => void,
  takeLost: () => number = () => 0,
): ProcessLog {
  // Asked for each line, which may be the first one: the logger exists by then.
  const withStack = (): boolean => logger.isLevelEnabled('debug')
  const logger = pino(
    {
      level,
      base: null,
      messageKey: 'msg',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => tidied(fields, isPseudonymous),
      },
      serializers: { err: pino.stdSerializers.err, error: pino.stdSerializers.err },
      redact: {
        paths: secretFields.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
        censor: '[redacted]',
      },
      // Values inside a sentence, such as the address in a failed fetch, escape `redact`.
      hooks: {
        streamWrite: format === 'text' ? (line) => textLine(masked(line), withStack()) : masked,
      },
    },
    { write },
  )
  const unfiltered = logger.child({})
  // Said to the child itself, or that of its parent counts, whatever it becomes.
  unfiltered.level = 'info'
  const writer =
    (name: 'debug' | 'info' | 'warn' | 'error', to = logger) =>
    (fields: object, message: string) => {
      const lost = takeLost()
      if (lost > 0) logger.warn({ lost }, 'log lines were lost: the output could not be written')
      to[name](fields, message)
    }
  return {
    debug: writer('debug'),
    info: writer('info'),
    warn: writer('warn'),
    error: writer('error'),
    always: writer('info', unfiltered),
    setLevel: (next) => {
      logger.level = next
    },
  }
}

/** Wherever a line names an account, beside `userId` or `actor`. */
const addressField = 'userEmail'

/** Fields that say nothing are left out; times are told to a hundredth of a millisecond. */
function tidied(fields: Record<string, unknown>, isPseudonymous: boolean): Record<string, unknown> {
  const tidy: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields)) {
    if (value === '' || (isPseudonymous && name === addressField)) continue
    const isTime = typeof value === 'number' && name.endsWith('Ms')
    tidy[name] = isTime ? Math.round(value * 100) / 100 : value
  }
  return tidy
}

/** Names and passwords of URLs. The line is JSON, so a value ends at a quote or a backslash. */
function masked(line: string): string {
  return line.replace(/([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/@"\\]{1,2000}@/gi, '$1[redacted]@')
}

/**
 * `2026-01-31T12:00:00.000Z WARN  sentence  key=value key="two words"`
 *
 * @param withStack the stacks of errors follow, a line each, set in from the left
 */
function textLine(json: string, withStack: boolean): string {
  const { time, level, msg, ...fields } = JSON.parse(json) as LogRecord
  const head = `${time} ${level.toUpperCase().padEnd(5)} ${printable(msg)}`
  const pairs = Object.entries(fields).map(([key, value]) => `${key}=${textValue(value)}`)
  const stacks = withStack ? Object.values(fields).flatMap(stackLines) : []
  return `${[[head, pairs.join(' ')].join('  ').trimEnd(), ...stacks].join('\n')}\n`
}

/** A line of pino's, as configured above. */
interface LogRecord {
  readonly time: string
  readonly level: string
  readonly msg: string
  readonly [field: string]: unknown
}

/** As pino's serializer writes an `Error`; its message has those of the causes, too. */
interface WrittenError {
  readonly message: string
  readonly stack: string
}

function isError(value: unknown): value is WrittenError {
  if (typeof value !== 'object' || value === null) return false
  const { message, stack } = value as Partial<Record<keyof WrittenError, unknown>>
  return typeof message === 'string' && typeof stack === 'string'
}

function stackLines(value: unknown): readonly string[] {
  if (!isError(value)) return []
  return value.stack.split('\n').map((line) => `    ${printable(line.trim())}`)
}

function textValue(value: unknown): string {
  if (isError(value)) return textValue(value.message)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return /^[\w.:/@+-]+$/.test(text) ? text : printable(JSON.stringify(value))
}

/** A commit message or a query name must not be able to forge a line or move the cursor. */
function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
