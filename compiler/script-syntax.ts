// Whether the body of a script step is a program at all. Reads it, never runs it.
import { checkScript } from '#routing/script/check.ts'

/**
 * Node's own parser reads the body as that of a function which is never called: no code of it
 * runs, and nothing of it is left. The parser looks at the body by itself, so a stray brace cannot
 * end the function. A script, unlike a function, may not return; the nearest that this parser has
 * to "no return here" is a block of a class, asked only where the word stands.
 *
 * What this parser lets pass is read once more by the engine that will run it: it is older, and
 * knows less of the language.
 *
 * @returns what is wrong, or undefined
 */
export function scriptFault(body: string): string | undefined {
  const fault = faultOf(body) ?? returnFault(body)
  if (fault !== undefined) return fault
  const checked = checkScript(body)
  if (checked.ok) return undefined
  const { message, line, column } = checked.error
  return `${message} (line ${line}, column ${column})`
}

function returnFault(body: string): string | undefined {
  if (!/\breturn\b/.test(body)) return undefined
  const inBlock = faultOf(`class Block { static {\n${body}\n} }`)
  return inBlock === illegalReturn ? inBlock : undefined
}

const illegalReturn = 'Illegal return statement'

function faultOf(body: string): string | undefined {
  try {
    Reflect.construct(Function, [body])
    return undefined
  } catch (error) {
    // Beside syntax: nesting so deep that the parser gives up.
    if (!(error instanceof SyntaxError)) return 'it is nested too deeply'
    return error.message === 'Single function literal required'
      ? "Unexpected token '}'"
      : error.message
  }
}
