// gslbd as a script calls it: what it printed and its exit code.
import { main } from '#cli/main.ts'

export interface CliRun {
  readonly exit: number
  readonly out: string
  readonly err: string
}

/** @param argv command and options, as in a shell */
export const runCli = (...argv: string[]): Promise<CliRun> => runCliWith({}, ...argv)

/** @param env what the process would have in its environment */
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
