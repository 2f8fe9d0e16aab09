// Checks the syntax of a script step's body; never runs it.
import { checkScript, isScriptCheckLoaded, loadScriptCheck } from '#routing/script/check.ts'

export interface ScriptMistake {
  readonly message: string
  /** Index in the body; undefined: unknown. */
  readonly character: number | undefined
}

/** The part of a file that is read. */
interface WithOctets {
  readonly bytes: Uint8Array | null
}

/** The prefix of a step. */
const mark = 'script:'
/** What can hide it in a quoted YAML scalar: letters as numbers, and lines that are joined. */
const hiding = /\\[xuU\r\n]/

/**
 * Await it before compiling files: loads the script engine if one of them may have a script step.
 * Without any, a node has no engine.
 */
export async function readyForScripts(files: readonly WithOctets[]): Promise<void> {
  if (isScriptCheckLoaded()) return
  if (files.some(({ bytes }) => bytes !== null && mayHaveScript(bytes))) await loadScriptCheck()
}

function mayHaveScript(bytes: Uint8Array): boolean {
  const octets = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return octets.includes(mark) || hiding.test(octets.toString('latin1'))
}

/**
 * Parses the body with the engine that will run it, so that accepted bodies can be parsed there.
 *
 * @returns the mistake, or undefined
 */
export function scriptMistake(body: string): ScriptMistake | undefined {
  const checked = checkScript(body)
  if (checked.ok) return undefined
  const { message, line, column } = checked.error
  if (line === 0) return { message, character: undefined }
  const character = characterAt(body, line, column)
  return { message: `${message} (line ${line}, column ${column} of the script)`, character }
}

/** The engine counts characters, JavaScript UTF-16 units. */
function characterAt(body: string, line: number, column: number): number {
  const lines = body.split('\n')
  const before = lines.slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, 0)
  const signs = [...(lines[line - 1] ?? '')].slice(0, Math.max(column - 1, 0))
  return Math.min(before + signs.join('').length, body.length)
}
