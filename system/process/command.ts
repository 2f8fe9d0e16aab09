// Defines a command of `gslbd`: a name, a usage line, and a function from arguments to an exit
// code.
import type { ParseArgsOptionsConfig } from 'node:util'

// An import asks for each name of the module, and some load much: diffs, colours, a terminal.
const { parseArgs } = process.getBuiltinModule('node:util')
import type { Tell } from '#lib/log.ts'

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
  /** Summary for `gslbd help`, one line. */
  readonly summary: string
  /** The whole usage text, options included. */
  readonly usage: string
  readonly run: (args: readonly string[], io: Io) => Promise<Exit>
}

/** Thrown by a command for a wrong call; `main` prints it with the usage and exits 2. */
export class UsageError extends Error {}

/**
 * Reads the arguments.
 *
 * @returns options, and positional arguments.
 * @throws UsageError for a wrong call
 */
export function commandLine<T extends ParseArgsOptionsConfig>(args: readonly string[], options: T) {
  return parseArgs({ args: [...args], allowPositionals: true, options })
}

/** Prints why a command ends. @returns `exit` */
export function endWith(io: Io, exit: Exit, text: string): Exit {
  io.err(`${text}\n`)
  return exit
}
