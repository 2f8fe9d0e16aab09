// `gslbd node`: credentials of the nodes that pull, and the list of those that count.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { CommandFault, commandLine, Exit, UsageError } from '#system/process/command.ts'
import type { Command, Io } from '#system/process/command.ts'
import { isNodeName, labelsOf, newNodeToken, readNodeList } from '#fleet/nodes/credentials.ts'
import type { ListedNode } from '#fleet/nodes/credentials.ts'
import { writeDurably } from '#lib/durable-file.ts'
import { dataDirOf } from '#cli/files/data-dir.ts'

const usage = `Usage: gslbd node add NAME [--label KEY=VALUE]... [--data-dir D | --file F]
       gslbd node list [--data-dir D | --file F]
       gslbd node renew NAME [--done] [--data-dir D | --file F]
       gslbd node remove NAME [--data-dir D | --file F]

Nodes of the role dns and agents that a control node knows: these alone count in waves, gates and
drift. Run it on the control node, whose data directory has the list.

add     lists a node and prints its token, once: set it as GSLB_NODE_TOKEN on that node, whose
        state.nodeName is NAME. The list has the public half alone, and may be shown and copied.
list    shows the nodes that are listed
renew   gives a listed node another token beside the one that it has, and leaves its labels. When it
        runs with the new one, "renew NAME --done" forgets the one before
remove  takes a node out of the list; what it tells no longer counts

  --label KEY=VALUE  what waves choose it by; it counts instead of what the node says of itself
  --done             forget the token before: at once, where it is in wrong hands
  --data-dir D       the control node's data directory (default GSLB_DATA_DIR, or ./data)
  --file F           the list (default D/nodes, or node.listFile of the settings)

A running control node notices a changed list within a second. With several, give all the same.
Exit codes: 0 done; 2 wrong call; 4 the list cannot be used.`

const options = {
  label: { type: 'string', multiple: true },
  done: { type: 'boolean' },
  'data-dir': { type: 'string' },
  file: { type: 'string' },
} as const

export const node: Command = {
  name: 'node',
  usage,
  async run(args, io) {
    const { positionals, values } = commandLine(args, options)
    const file = resolve(values.file ?? join(dataDirOf(values, io), 'nodes'))
    const [verb, name = '', ...rest] = positionals
    const isNamed = name !== '' && rest.length === 0
    if (verb === 'add' && isNamed) add(name, values.label ?? [], file, io)
    else if (verb === 'renew' && isNamed) renew(name, values.done === true, file, io)
    else if (verb === 'remove' && isNamed) remove(name, file, io)
    else if (verb === 'list' && name === '') list(file, io)
    else throw new UsageError('say "add NAME", "list", "renew NAME" or "remove NAME"')
    return Exit.Ok
  },
}

function add(name: string, words: readonly string[], file: string, io: Io): void {
  if (!isNodeName(name)) {
    throw new UsageError(`"${name}" is no name of a node: letters, digits, dots and dashes`)
  }
  const labels = labelsOf(words)
  if (!labels.ok) throw new UsageError(labels.error)
  if (!existsSync(dirname(file))) {
    throw refused(
      `the directory ${dirname(file)} does not exist; name the control node's --data-dir`,
    )
  }
  const { text, nodes } = opened(file)
  if (nodes.has(name))
    throw refused(`${name} is listed in ${file}; "gslbd node renew ${name}" gives it a new token`)
  const { token, listed } = newNodeToken()
  const line = [name, listed, ...words].join(' ')
  const before = text === '' || text.endsWith('\n') ? text : `${text}\n`
  writeDurably(file, `${before}${line}\n`)
  tell(name, token, line, file, io)
}

/** Its labels stay, by which waves choose it, and it counts while it still has the token before. */
function renew(name: string, isDone: boolean, file: string, io: Io): void {
  const { text, nodes } = opened(file)
  if (!nodes.has(name)) throw refused(`${name} is not listed in ${file}`)
  const { token, listed } = newNodeToken()
  const lines = text.split('\n')
  const at = lines.findIndex((line) => nameIn(line) === name)
  const [, keys = '', ...words] = lines[at]!.trim().split(/\s+/)
  const [latest = '', before] = keys.split(',')
  if (!isDone && before !== undefined) {
    throw refused(`${name} has two tokens; "gslbd node renew ${name} --done" forgets the older one`)
  }
  lines[at] = [name, isDone ? latest : `${listed},${latest}`, ...words].join(' ')
  writeDurably(file, lines.join('\n'))
  if (isDone) io.out(`the latest token of ${name} is its only one in ${file}\n`)
  else tell(name, token, lines[at], file, io)
}

const nameIn = (line: string): string | undefined => line.trim().split(/\s+/)[0]

function tell(name: string, token: string, line: string, file: string, io: Io): void {
  io.err(`listed in ${file}: ${line}\nSet this on ${name}; it is shown only now:\n`)
  io.out(`GSLB_NODE_TOKEN=${token}\n`)
}

function list(file: string, io: Io): void {
  const { nodes } = opened(file)
  for (const { name, labels } of nodes.values()) {
    const words = Object.entries(labels).map(([key, value]) => `${key}=${value}`)
    io.out(`${[name, ...words].join('  ')}\n`)
  }
  if (nodes.size === 0) io.err(`${file} lists no node; "gslbd node add" makes a credential\n`)
}

function remove(name: string, file: string, io: Io): void {
  const { text, nodes } = opened(file)
  if (!nodes.has(name)) throw refused(`${name} is not listed in ${file}`)
  const kept = text.split('\n').filter((line) => nameIn(line) !== name)
  writeDurably(file, kept.join('\n'))
  io.out(`removed from ${file}: ${name}\n`)
  if (nodes.size === 1) {
    io.err(
      `no node is listed any more, so none counts; without ${file} all do (node.unlisted: auto)\n`,
    )
  }
}

interface OpenList {
  readonly text: string
  readonly nodes: ReadonlyMap<string, ListedNode>
}

function opened(file: string): OpenList {
  const text = existsSync(file) ? readText(file) : ''
  const nodes = readNodeList(text)
  if (!nodes.ok) throw refused(`${file}: ${nodes.error}`)
  return { text, nodes: nodes.value }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw refused((error as Error).message)
  }
}

const refused = (why: string): CommandFault => new CommandFault(Exit.Trust, why)
