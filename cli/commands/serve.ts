// `gslbd serve`: runs a node until a signal ends it.
import { parseArgs } from 'node:util'
import { systemClock } from '#lib/clock.ts'
import { Exit } from '#cli/terminal/command.ts'
import type { Command, Io } from '#cli/terminal/command.ts'
import { askOnTerminal, createAdmin } from '../create-admin.ts'
import { startDaemon } from '#cli/daemon/daemon.ts'
import { createLog, logFormOf } from '#cli/terminal/log.ts'
import { believeOwnKey, unbelievedKey } from '#cli/data/own-key.ts'
import { runUntilSignal } from '#cli/daemon/run-daemon.ts'
import { loadSettings } from '#cli/settings/settings.ts'

const usage = `Usage: gslbd serve [--settings FILE] [--data-dir DIR] [--log-level LEVEL]
                   [--log-format FORMAT] [--create-admin]

Runs a node: answers DNS, probes members, follows the configuration repository.

  --settings FILE      gslbd.yaml; without it every setting has its default
  --data-dir DIR       where the node keeps its state (GSLB_DATA_DIR; default ./data)
  --log-level LEVEL    debug, info, warn or error (GSLB_LOG_LEVEL; default info)
  --log-format FORMAT  auto, text or json (GSLB_LOG_FORMAT; default auto: text on a terminal,
                       JSON elsewhere)
  --create-admin       ask for an e-mail address and a password, create the first account and exit

SIGTERM and SIGINT stop it cleanly, SIGHUP reads the settings again. A second
SIGTERM or SIGINT, or 25 seconds without an end, cuts off what is under way (exit 1).`

export const serve: Command = {
  name: 'serve',
  summary: 'run a node',
  usage,
  run: async (args: readonly string[], io: Io): Promise<Exit> => {
    const { values } = parseArgs({
      args: [...args],
      options: {
        settings: { type: 'string' },
        'data-dir': { type: 'string' },
        'log-level': { type: 'string' },
        'log-format': { type: 'string' },
        'create-admin': { type: 'boolean' },
      },
    })
    const { settings: file, 'create-admin': isFirstAccount = false, ...flags } = values
    const read = () => loadSettings({ file, env: io.env, flags })
    const settings = read()
    if (!settings.ok) {
      io.err(`${settings.error.join('\n')}\n`)
      return Exit.ErrorsFound
    }
    if (isFirstAccount) {
      const created = await createAdmin(settings.value, askOnTerminal)
      if (created.ok) io.out(`${created.value}\n`)
      else io.err(`gslbd: ${created.error}\n`)
      return created.ok ? Exit.Ok : Exit.ErrorsFound
    }
    const log = createLog(logFormOf(settings.value.logging, io), io.out, io.lostLines)
    const prepare = async () => {
      const believed = believeOwnKey(settings.value)
      const warning = believed.ok ? unbelievedKey(settings.value, systemClock) : undefined
      if (warning !== undefined) log.warn({}, warning)
      return believed
    }
    const ended = await runUntilSignal(() => startDaemon(settings.value, log, prepare), log, read)
    if (ended.ok) return ended.value === 'restart' ? Exit.Restart : Exit.Ok
    io.err(`gslbd: ${ended.error}\n`)
    return Exit.ErrorsFound
  },
}
