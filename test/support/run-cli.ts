// Runs gslbd as a script does: gives its output and exit code.
import { main } from '#cli/main.ts'

interface CliRun {
  readonly exit: number
  readonly out: string
  readonly err: string
}

/** @param argv command and options, as in a shell */
export const runCli = (...argv: string[]): Promise<CliRun> => runCliWith({}, ...argv)

/** @param env environment of the process */
export async function runCliWith(
  env: Readonly<Record<string, string>>,
  ...argv: string[]
): Promise<CliRun> {
  let out = ''
  let err = ''
  const exit = await main(argv, {
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    env,
    isTerminal: false,
  })
  return { exit, out, err }
}
