// `gslbd completion`: what a shell needs to complete the commands and options of gslbd.
import { completedOf, completions, shells } from '#cli/terminal/completion.ts'
import { commandLine, Exit, UsageError } from '#system/process/command.ts'
import type { Command, CommandEntry } from '#system/process/command.ts'

const usage = `Usage: gslbd completion SHELL

Prints the completion of gslbd for bash, zsh or fish. To have it in every shell:

  gslbd completion bash > /etc/bash_completion.d/gslbd
  gslbd completion zsh > /usr/local/share/zsh/site-functions/_gslbd
  gslbd completion fish > ~/.config/fish/completions/gslbd.fish

Exit codes: 0 printed; 2 wrong call.`

/** @param commands all of them, this one, too */
export const completionOf = (commands: Readonly<Record<string, CommandEntry>>): Command => ({
  name: 'completion',
  usage,
  async run(args, io) {
    const { positionals } = commandLine(args, {})
    const shell = shells.find((name) => name === positionals[0])
    if (shell === undefined || positionals.length !== 1) {
      throw new UsageError(`name one of ${shells.join(', ')}`)
    }
    const completed = Object.entries(commands).map(async ([name, { summary, load }]) =>
      completedOf(name, summary, (await load()).usage),
    )
    io.out(completions[shell](await Promise.all(completed)))
    return Exit.Ok
  },
})
