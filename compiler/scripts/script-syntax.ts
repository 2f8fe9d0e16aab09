// Checks the syntax of a script step's body; never runs it.
import { checkScript, isScriptCheckLoaded, loadScriptCheck } from '#routing/script/check.ts'

export interface ScriptMistake {
  readonly message: string
  /** Index in the body; undefined: not known. */
  readonly character: number | undefined
}

/** What of a file is looked at. */
interface WithOctets {
  readonly bytes: Uint8Array | null
}

/** How a step begins; in a quoted YAML scalar each of its letters may be written with a `\`. */
const mark = Buffer.from('script:')
const escape = '\\'.charCodeAt(0)

/**
 * To be awaited before files are compiled: loads the script engine where one of them may have a
 * script step. Where none has, a node has no engine.
 */
export async function readyForScripts(files: readonly WithOctets[]): Promise<void> {
  if (isScriptCheckLoaded()) return
  if (files.some(({ bytes }) => bytes !== null && mayHaveScript(bytes))) await loadScriptCheck()
}

function mayHaveScript(bytes: Uint8Array): boolean {
  const octets = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return octets.includes(mark) || octets.includes(escape)
}

/**
 * Asks the engine that will run it, so that what is accepted here can be read there.
 *
 * @returns what is wrong, or undefined
 */
export function scriptMistake(body: string): ScriptMistake | undefined {
  const checked = checkScript(body)
  if (checked.ok) return undefined
  const { message, line, column } = checked.error
  if (line === 0) return { message, character: undefined }
  const character = characterAt(body, line, column)
  return { message: `${message} (line ${line}, column ${column} of the script)`, character }
}

/** The engine counts characters, JavaScript's strings have two units for some. */
function characterAt(body: string, line: number, column: number): number {
  const lines = body.split('\n')
  const before = lines.slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, 0)
  const signs = [...(lines[line - 1] ?? '')].slice(0, Math.max(column - 1, 0))
  return Math.min(before + signs.join('').length, body.length)
}
