// The table of commands as a page for people: what each does, its usage, and the exit codes.
import { commandGroups } from '#cli/main.ts'
import type { CommandGroup } from '#cli/main.ts'
import { exitMeanings } from '#system/process/command.ts'

/** docs/reference/commands.md. */
export async function commandsReference(): Promise<string> {
  const groups = await Promise.all(commandGroups.map(partOf))
  const codes = Object.entries(exitMeanings).map(([code, means]) => `| ${code} | ${means} |`)
  const tables = groups.map(({ table }) => table)
  const usages = groups.map(({ usages }) => usages)
  const exits = ['## Exit codes', '', '| Exit code | Means |', '| --- | --- |', ...codes].join('\n')
  return `${[intro, ...tables, exits, '## Options', ...usages].join('\n\n')}\n`
}

const intro = `# Commands

<!-- Generated from cli/main.ts.
     Rewrite with: GSLBD_UPDATE=1 npx vitest run test/unit/cli -->

\`gslbd help COMMAND\` shows the options of one, and \`gslbd completion\` completes
them in a shell. In a checkout the program is \`bin/gslbd\`.`

interface Part {
  readonly table: string
  readonly usages: string
}

async function partOf({ title, commands }: CommandGroup): Promise<Part> {
  const loaded = Object.entries(commands).map(async ([name, { summary, load }]) => {
    const { usage } = await load()
    return { name, summary, usage }
  })
  const all = await Promise.all(loaded)
  const rows = all.map(
    ({ name, summary }) => `| [\`gslbd ${name}\`](#gslbd-${name}) | ${summary} |`,
  )
  return {
    table: [`## ${title}`, '', '| Command | Does |', '| --- | --- |', ...rows].join('\n'),
    usages: all
      .map(({ name, usage }) => `### gslbd ${name}\n\n\`\`\`text\n${usage.trimEnd()}\n\`\`\``)
      .join('\n\n'),
  }
}
