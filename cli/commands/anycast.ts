// `gslbd anycast`: asks the BGP daemon for the routes of a node, or withdraws them.
import { watchNode } from '#node/anycast/watch.ts'
import { atMostOne, commandLine, Exit, needed, UsageError } from '#system/process/command.ts'
import type { Command, Io } from '#system/process/command.ts'

const usage = `Usage: gslbd anycast status|withdraw [--settings FILE]

Speaks to the BGP daemon that the settings of a node name under anycast. status says what it
announces; withdraw takes the routes of the node back, whether the node runs or not: a node that
runs and is well announces them again within a second. systemd calls it after each end of the
node, also after one by kill -9: ExecStopPost=gslbd anycast withdraw --settings FILE.

  --settings FILE  gslbd.yaml of the node

Exit codes: 0 done, or the settings announce nothing; 1 the daemon cannot be told, or the settings
cannot be used; 2 wrong call.`

export const anycast: Command = {
  name: 'anycast',
  usage,
  async run(args, io) {
    const { positionals, values } = commandLine(args, { settings: { type: 'string' } })
    const verb = atMostOne(positionals, `"${positionals[1]}" is one too many`)
    // Started by each node that announces addresses: it waits for the node to end.
    if (verb === 'guard') return guard(io)
    if (verb !== 'status' && verb !== 'withdraw') throw new UsageError('write status or withdraw')
    return tell(verb, values.settings, io)
  },
}

async function guard(io: Io): Promise<Exit> {
  // Ignores SIGINT and its kind: the guard must outlive the node, and ends when the node has.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined)
  const watched = await watchNode(process.stdin)
  const head = 'gslbd anycast: the node has ended without a word'
  if (!watched.ok) io.err(`${head}, and its routes may still be announced: ${watched.error}\n`)
  else if (watched.value.withdrawn) {
    io.err(`${head}; its routes are withdrawn: ${watched.value.reply}\n`)
  }
  return watched.ok ? Exit.Ok : Exit.ErrorsFound
}

async function tell(verb: 'status' | 'withdraw', file: string | undefined, io: Io): Promise<Exit> {
  // Loaded on demand, since the guard does not need it.
  const { settingsFor } = await import('#cli/files/settings-file.ts')
  const { driverOf } = await import('#node/anycast/drivers.ts')
  const driver = driverOf(settingsFor(io, file).anycast)
  if (driver === null) {
    io.out('The settings announce nothing: anycast.driver is none.\n')
    return Exit.Ok
  }
  const { announces, text } = needed(await driver[verb === 'status' ? 'look' : 'withdraw']())
  io.out(
    `${announces === null ? '' : `announced: ${announces}. `}${text || 'it cannot be asked'}\n`,
  )
  return Exit.Ok
}
