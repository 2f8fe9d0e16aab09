// Prints the completion of gslbd for a shell.
import { commands } from '#cli/main.ts'
import { completionOf } from '#cli/commands/completion.ts'
import type { Shell } from '#cli/terminal/completion.ts'

export async function runCompletion(shell: Shell): Promise<string> {
  let text = ''
  const out = (part: string): void => void (text += part)
  await completionOf(commands).run([shell], { out, err: out, env: {}, isTerminal: false })
  return text
}
