// `gslbd serve`: runs a node until a signal ends it.
import { parseArgs } from 'node:util'
import { endWith, Exit, UsageError } from '#system/process/command.ts'
import type { Command, Io } from '#system/process/command.ts'
import { createLog, logFormOf } from '#process/log.ts'
import { runNode } from '#node/start.ts'
import { roleFault, roleNames } from '#settings/sections/bundle.ts'
import type { Role } from '#settings/sections/bundle.ts'
import { loadSettings } from '#settings/settings.ts'
import type { Settings } from '#settings/settings.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

const usage = `Usage: gslbd serve [--settings FILE] [--data-dir DIR] [--log-level LEVEL]
                   [--log-format FORMAT] [--role ROLE]… [--replace [--detach]]
                   [--create-admin]

Runs a node: answers DNS, probes members, follows the configuration repository.

  --settings FILE      gslbd.yaml; without it every setting has its default
  --data-dir DIR       where the node keeps its state (GSLB_DATA_DIR; default ./data)
  --log-level LEVEL    debug, info, warn or error (GSLB_LOG_LEVEL; default info)
  --log-format FORMAT  auto, text or json (GSLB_LOG_FORMAT; default auto: text on a terminal,
                       JSON elsewhere)
  --role ROLE          control, dns or agent, in the place of the setting roles; --role dns
                       answers from bundles that it pulls from bundle.urls, without Git, database
                       and API; --role control gives such bundles, and answers no DNS; --role
                       agent pulls them, and only probes members
  --replace            take the place of the process that runs with this data directory, without
                       a query unanswered: its sockets, its directory, what it knows of health.
                       If this one does not get ready, that one goes on. Without one: just start
  --detach             with --replace: go on in the background, and return when it is ready
                       (exit 0) or was given up (exit 1). Its log goes to this output; where that
                       is a pipe, which ends then, on to where the process before wrote its own
  --create-admin       ask for an e-mail address and a password, create the first account and exit

SIGTERM and SIGINT stop it cleanly, also while it starts; SIGHUP reads the settings again. A second
SIGTERM or SIGINT, or 25 seconds without an end, cuts off what is under way (exit 1). A node that
announces its addresses withdraws them first, and waits for anycast.drain besides.`

export const serve: Command = {
  name: 'serve',
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
        role: { type: 'string', multiple: true },
        replace: { type: 'boolean' },
        detach: { type: 'boolean' },
      },
    })
    const { settings: file, 'create-admin': isFirstAccount = false, role, ...others } = values
    const { replace: isReplacing = false, detach: isDetached = false, ...flags } = others
    if (isDetached && !isReplacing) throw new UsageError('--detach goes with --replace')
    const roles = role === undefined ? undefined : role.map(roleOf)
    const read = () => withRoles(loadSettings({ file, env: io.env, flags }), roles)
    const settings = read()
    if (!settings.ok) return endWith(io, Exit.ErrorsFound, settings.error.join('\n'))
    if (isFirstAccount) {
      const { createAdmin } = await import('#node/stores/first-account.ts')
      const { askOnTerminal } = await import('#cli/terminal/ask-account.ts')
      const created = await createAdmin(settings.value, askOnTerminal)
      if (!created.ok) return endWith(io, Exit.ErrorsFound, `gslbd: ${created.error}`)
      io.out(`${created.value}\n`)
      return Exit.Ok
    }
    if (isDetached) {
      const { startDetached } = await import('#process/replace/detach.ts')
      const words = ['serve', ...args.filter((word) => word !== '--detach')]
      const { dataDir } = settings.value
      return (await startDetached({ args: words, dataDir, io })) ? Exit.Ok : Exit.ErrorsFound
    }
    const log = createLog(logFormOf(settings.value.logging, io), io.out, io.lostLines)
    const { value } = settings
    const ended = await runNode({ settings: value, log, env: io.env, isReplacing, reread: read })
    if (ended.ok) return ended.value === 'restart' ? Exit.Restart : Exit.Ok
    return endWith(io, Exit.ErrorsFound, `gslbd: ${ended.error}`)
  },
}

function roleOf(text: string): Role {
  const role = roleNames.find((name) => name === text)
  if (role === undefined) throw new UsageError(`--role is "${text}", write control, dns or agent`)
  return role
}

function withRoles(
  loaded: Result<Settings, string[]>,
  roles: readonly Role[] | undefined,
): Result<Settings, string[]> {
  if (!loaded.ok) return loaded
  const settings = { ...loaded.value, roles: roles ?? loaded.value.roles }
  const fault = roleFault(settings.roles, settings.bundle)
  return fault === undefined ? ok(settings) : err([fault])
}
