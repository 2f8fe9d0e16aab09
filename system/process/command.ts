// Defines a command of `gslbd`: a name, a usage line, and a function from arguments to an exit
// code.
import type { ParseArgsOptionsConfig } from 'node:util'

// An import asks for each name of the module, and some load much: diffs, colours, a terminal.
const { parseArgs } = process.getBuiltinModule('node:util')
import type { Tell } from '#lib/log.ts'
import type { Result } from '#lib/result.ts'

/** Exit codes are a contract: scripts and CI read them. */
export const Exit = {
  Ok: 0,
  ErrorsFound: 1,
  Usage: 2,
  Guardrail: 3,
  Trust: 4,
  Internal: 70,
  /** A node ended and asks to be started again. */
  Restart: 75,
} as const
export type Exit = (typeof Exit)[keyof typeof Exit]

/** Meanings of the exit codes, for the man page and the reference. */
export const exitMeanings: Readonly<Record<Exit, string>> = Object.freeze({
  [Exit.Ok]: 'fine',
  [Exit.ErrorsFound]: 'errors were found',
  [Exit.Usage]: 'wrong usage',
  [Exit.Guardrail]: 'a guardrail said no',
  [Exit.Trust]: 'not trusted',
  [Exit.Internal]: 'a fault of gslbd',
  [Exit.Restart]: 'start it again: a restart was asked for',
})

/** The outside world of a command; tests pass their own. */
export interface Io {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  /** Count of texts to `out` that were lost before the last one was written; reading resets it. */
  readonly lostLines?: () => number
  readonly env: Readonly<Record<string, string | undefined>>
  readonly isTerminal: boolean
  /** Shows on stderr what long work does, and how far it is, until something is printed. */
  readonly progress?: Tell
}

/**
 * Reads an environment variable. A variable that is set but empty counts as not set, since
 * container files write it so.
 */
export function variable(env: Io['env'], name: string): string | undefined {
  const value = env[name]
  return value === '' ? undefined : value
}

export interface Command {
  readonly name: string
  /** The whole usage text, options included. */
  readonly usage: string
  readonly run: (args: readonly string[], io: Io) => Promise<Exit>
}

/** A row of the table of commands. */
export interface CommandEntry {
  /** One line for `gslbd help`, which loads no command. */
  readonly summary: string
  /** Loaded on demand: `gslbd check` must not load sockets. */
  readonly load: () => Promise<Command>
}

/** Thrown by a command for a wrong call; `main` prints it with the usage and exits 2. */
export class UsageError extends Error {}

/** Thrown by a command that cannot go on. An empty message: the command has said why. */
export class CommandFault extends Error {
  readonly exit: Exit

  constructor(exit: Exit, message: string) {
    super(message)
    this.exit = exit
  }
}

/** @throws CommandFault with the message of an error */
export function needed<T>(
  result: Result<T, string | { readonly message: string }>,
  exit: Exit = Exit.ErrorsFound,
): T {
  if (result.ok) return result.value
  const { error } = result
  throw new CommandFault(exit, typeof error === 'string' ? error : error.message)
}

/** Runs a command, and prints the fault that ends it. @throws UsageError for a wrong call */
export async function runCommand(command: Command, args: readonly string[], io: Io): Promise<Exit> {
  try {
    return await command.run(args, io)
  } catch (error) {
    if (!(error instanceof CommandFault)) throw error
    if (error.message !== '') io.err(`gslbd ${command.name}: ${error.message}\n`)
    return error.exit
  }
}

/**
 * Reads the arguments.
 *
 * @returns options, and positional arguments.
 * @throws UsageError for a wrong call
 */
export function commandLine<T extends ParseArgsOptionsConfig>(args: readonly string[], options: T) {
  return parseArgs({ args: [...args], allowPositionals: true, options })
}

/** Options as `commandLine` returns them. */
export type ValuesOf<T extends ParseArgsOptionsConfig> = ReturnType<typeof commandLine<T>>['values']

/** @throws UsageError with the sentence, unless there is just one */
export function onlyOne(positionals: readonly string[], sentence: string): string {
  const [only] = positionals
  if (only === undefined || positionals.length > 1) throw new UsageError(sentence)
  return only
}

/** @throws UsageError with the sentence, where there are several */
export function atMostOne(positionals: readonly string[], sentence: string): string | undefined {
  if (positionals.length > 1) throw new UsageError(sentence)
  return positionals[0]
}

/** @throws UsageError that names the option */
export function optionValue<T>(option: string, read: Result<T, string>): T {
  if (read.ok) return read.value
  throw new UsageError(`${option}: ${read.error}`)
}

/** @throws UsageError that names the option and the bounds */
export function wholeNumber(option: string, text: string, least: number, most: number): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (value >= least && value <= most) return value
  throw new UsageError(`${option} is a whole number from ${least} to ${most}, not "${text}"`)
}

/** Prints why a command ends. @returns `exit` */
export function endWith(io: Io, exit: Exit, text: string): Exit {
  io.err(`${text}\n`)
  return exit
}
