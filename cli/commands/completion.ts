// `gslbd completion`: what a shell needs to complete the commands and options of gslbd.
import { completedOf, completions, shells } from '#cli/terminal/completion.ts'
import { commandLine, Exit, UsageError } from '#system/process/command.ts'
import type { Command } from '#system/process/command.ts'

const usage = `Usage: gslbd completion SHELL

Prints the completion of gslbd for bash, zsh or fish. To have it in every shell:

  gslbd completion bash > /etc/bash_completion.d/gslbd
  gslbd completion zsh > /usr/local/share/zsh/site-functions/_gslbd
  gslbd completion fish > ~/.config/fish/completions/gslbd.fish

Exit codes: 0 printed; 2 wrong call.`

/** @param commands all of them, this one, too */
export const completionOf = (
  commands: Readonly<Record<string, () => Promise<Command>>>,
): Command => ({
  name: 'completion',
  summary: 'print the completion for bash, zsh or fish',
  usage,
  async run(args, io) {
    const { positionals } = commandLine(args, {})
    const shell = shells.find((name) => name === positionals[0])
    if (shell === undefined || positionals.length !== 1) {
      throw new UsageError(`name one of ${shells.join(', ')}`)
    }
    const all = await Promise.all(Object.values(commands).map((load) => load()))
    const completed = all.map((one) => completedOf(one.name, one.summary, one.usage))
    io.out(completions[shell](completed))
    return Exit.Ok
  },
})
