// Prints the man page gslbd(1), made from the table of commands.
import { pathToFileURL } from 'node:url'
import { exitMeanings } from '#system/process/command.ts'
import { commandGroups } from '#cli/main.ts'
import type { CommandGroup } from '#cli/main.ts'
import { version } from '#lib/version.ts'

export async function manPage(): Promise<string> {
  const groups = await Promise.all(commandGroups.map(groupPart))
  const codes = Object.entries(exitMeanings).map(([code, means]) => `.TP\n.B ${code}\n${means}`)
  return [
    `.TH GSLBD 1 "" "gslbd ${version}" "gslbd"`,
    '.SH NAME',
    'gslbd \\- authoritative DNS server with global load balancing',
    '.SH SYNOPSIS',
    '.B gslbd',
    'COMMAND [OPTIONS]',
    ...groups,
    '.SH EXIT CODES',
    ...codes,
    '.SH FILES',
    '.TP\n.I /etc/gslbd/gslbd.yaml\nthe settings of the node',
    '.TP\n.I /etc/gslbd/environment\nkeys and secrets, of root alone',
    '.TP\n.I /var/lib/gslbd\nits data',
    '',
  ].join('\n')
}

async function groupPart({ title, commands }: CommandGroup): Promise<string> {
  const all = Object.entries(commands).map(async ([name, { summary, load }]) => [
    `.SS gslbd ${name}`,
    `${escaped(summary)}.`,
    '.PP',
    '.nf',
    escaped((await load()).usage),
    '.fi',
  ])
  return [`.SH ${title.toUpperCase()}`, ...(await Promise.all(all)).flat()].join('\n')
}

/** Escapes a line: a leading dot or quote would be a command, and a dash would become a hyphen. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/^([.'])/gm, '\\&$1')
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  process.stdout.write(await manPage())
}
