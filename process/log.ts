// Writes the process log: one line per event, as JSON or as text.
import { pino } from 'pino'
import type { Log } from '#lib/log.ts'
import type { Settings } from '#settings/settings.ts'

export type LogLevel = Settings['logging']['level']

interface LogForm {
  readonly format: 'text' | 'json'
  readonly level: LogLevel
  /** True: accounts are named by their ids only. */
  readonly isPseudonymous?: boolean
}

/** @param isTerminal whether a person reads the log at a terminal */
export function logFormOf(
  { format, level, pseudonymous }: Settings['logging'],
  { isTerminal }: { readonly isTerminal: boolean },
): LogForm {
  const fitting = isTerminal ? 'text' : 'json'
  return { format: format === 'auto' ? fitting : format, level, isPseudonymous: pseudonymous }
}

/** The whole logger. Lower layers see only `Log`. */
export interface ProcessLog extends Log {
  readonly debug: (fields: object, message: string) => void
  /** Writes a line of level info at any level: a record that must not be missing. */
  readonly always: (fields: object, message: string) => void
  /** Takes effect with the next line; SIGHUP uses it. */
  readonly setLevel: (level: LogLevel) => void
}

/** Fields that are never written, up to three levels deep. */
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
 * @param write receives whole lines, with their line feed
 *
 * @param takeLost returns how many lines could not be written since the last call
 */
export function createLog(
  { format, level, isPseudonymous = false }: LogForm,
  write: (line: string) => void,
  takeLost: () => number = () => 0,
): ProcessLog {
  // A function, since it is called by the logger that it refers to.
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
      // `redact` misses values inside a sentence, such as the address of a failed fetch.
      hooks: {
        streamWrite: format === 'text' ? (line) => textLine(masked(line), withStack()) : masked,
      },
    },
    { write },
  )
  const unfiltered = logger.child({})
  // A level that is set on the child stays, whatever level its parent gets.
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

/** The field that names an account beside `userId` or `actor`. */
const addressField = 'userEmail'

/** Leaves out fields without a value, and rounds times to a hundredth of a millisecond. */
function tidied(fields: Record<string, unknown>, isPseudonymous: boolean): Record<string, unknown> {
  const tidy: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields)) {
    if (value === '' || (isPseudonymous && name === addressField)) continue
    const isTime = typeof value === 'number' && name.endsWith('Ms')
    tidy[name] = isTime ? Math.round(value * 100) / 100 : value
  }
  return tidy
}

/**
 * Masks names and passwords in URLs. The line is JSON, so a value ends at a quote or a backslash.
 */
function masked(line: string): string {
  return line.replace(/([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/@"\\]{1,2000}@/gi, '$1[redacted]@')
}

/**
 * Formats `2026-01-31T12:00:00.000Z WARN  sentence  key=value key="two words"`.
 *
 * @param withStack true: the stack of an error follows, indented, a line for each frame
 */
function textLine(json: string, withStack: boolean): string {
  const { time, level, msg, ...fields } = JSON.parse(json) as LogRecord
  const head = `${time} ${level.toUpperCase().padEnd(5)} ${printable(msg)}`
  const pairs = Object.entries(fields).map(([key, value]) => `${key}=${textValue(value)}`)
  const stacks = withStack ? Object.values(fields).flatMap(stackLines) : []
  return `${[[head, pairs.join(' ')].join('  ').trimEnd(), ...stacks].join('\n')}\n`
}

/** A line of pino as configured above. */
interface LogRecord {
  readonly time: string
  readonly level: string
  readonly msg: string
  readonly [field: string]: unknown
}

/** An `Error` as pino writes it; its message includes those of its causes. */
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

/** Replaces control characters: no text may forge a line or move the cursor. */
function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
