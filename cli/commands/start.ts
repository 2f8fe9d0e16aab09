// `gslbd start`, which is `npm start`: runs an all-in-one node to try the product with.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Result } from '#lib/result.ts'
import { shellWord } from '#lib/text/shell-word.ts'
import { endWith, Exit, UsageError, variable } from '#system/process/command.ts'
import type { Command, Io } from '#system/process/command.ts'
import { startDaemon } from '#node/daemon/daemon.ts'
import type { Daemon } from '#process/replace/daemon.ts'
import { startDemoBackends } from '#node/quickstart/demo-backends.ts'
import type { DemoBackends } from '#node/quickstart/demo-backends.ts'
import { createLog, logFormOf } from '#process/log.ts'
import { operatorKeyPath, prepareQuickstart } from '#node/quickstart/quickstart.ts'
import { runUntilSignal, threadsByRole } from '#node/start.ts'
import { loadSettings } from '#settings/settings.ts'
import type { Settings } from '#settings/settings.ts'

/** The members of examples/quickstart. */
const backends = { addresses: ['127.0.0.11', '127.0.0.12', '127.0.0.13'], port: 8081 } as const

const usage = `Usage: gslbd start [--data-dir DIR] [--dns-port N] [--api-port N]

Runs an all-in-one node on this machine with a small example as its first commit, and three small
web servers beside it whose health it follows. Everything listens on loopback addresses. The web
servers take ${backends.addresses.join(', ')}, each port ${backends.port}: one quick start
runs on a machine at a time.

  --data-dir DIR   where the node keeps its state (GSLB_DATA_DIR; default ./data)
  --dns-port N     UDP and TCP; default 5353, 0 takes a free one
  --api-port N     default 8080, 0 takes a free one`

export const start: Command = {
  name: 'start',
  usage,
  run: async (args: readonly string[], io: Io): Promise<Exit> => {
    const { values } = parseArgs({
      args: [...args],
      options: {
        'data-dir': { type: 'string' },
        'dns-port': { type: 'string', default: '5353' },
        'api-port': { type: 'string', default: '8080' },
      },
    })
    const ports = { dns: portOf(values['dns-port']), api: portOf(values['api-port']) }
    const read = () => quickstartSettings(values['data-dir'], io, ports)
    const settings = read()
    if (!settings.ok) return endWith(io, Exit.ErrorsFound, `gslbd: ${settings.error.join('\n')}`)
    const log = createLog(logFormOf(settings.value.logging, io), io.out, io.lostLines)
    let servers: DemoBackends | undefined
    // Runs when the data directory is held: of two starts, the second names the first.
    const prepare = async (): Promise<Result<null, string>> => {
      const started = await startDemoBackends(backends.addresses, backends.port)
      if (!started.ok) return started
      servers = started.value
      return prepareQuickstart(settings.value)
    }
    try {
      const ended = await runUntilSignal(
        async (calledOff) => {
          const createThreads = await threadsByRole(settings.value)
          const given = { ...{ settings: settings.value, log, env: io.env }, before: null }
          const daemon = await startDaemon({ ...given, createThreads, calledOff }, prepare)
          if (daemon.ok) io.out(welcome(settings.value, daemon.value, servers!))
          return daemon
        },
        log,
        read,
      )
      if (ended.ok) return Exit.Ok
      return endWith(io, Exit.ErrorsFound, `gslbd: ${ended.error}${portHint(ended.error)}`)
    } finally {
      await servers?.stop()
    }
  },
}

function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65_535))
    throw new UsageError(`"${text}" is not a port: write a number from 0 to 65535`)
  return port
}

function portHint(error: string): string {
  return error.includes('another program')
    ? '\nTry: npm start -- --dns-port 5300 --api-port 8090'
    : ''
}

/**
 * The defaults, with what a first try needs: loopback, API and health checks on, readable lines.
 */
function quickstartSettings(
  dataDir: string | undefined,
  io: Io,
  ports: { readonly dns: number; readonly api: number },
): Result<Settings, string[]> {
  const flags = {
    'data-dir': dataDir,
    'log-format': variable(io.env, 'GSLB_LOG_FORMAT') ?? 'text',
  }
  const settings = loadSettings({ env: io.env, flags })
  if (!settings.ok) return settings
  const { dns, api, health } = settings.value
  const value: Settings = {
    ...settings.value,
    dns: { ...dns, listenAddr: '127.0.0.1', port: ports.dns },
    api: { ...api, enabled: true, listenAddr: '127.0.0.1', port: ports.api },
    health: { ...health, enabled: true },
  }
  return { ok: true, value }
}

function welcome(settings: Settings, daemon: Daemon, servers: DemoBackends): string {
  const { dataDir } = settings
  const dig = `dig @127.0.0.1 -p ${daemon.dnsPort} www.example.com +noall +answer`
  const api = `http://127.0.0.1:${daemon.apiPort ?? 0}`
  const origin = shellWord(join(dataDir, 'config.git'))
  const first = servers.backends[0]
  const sign = [
    'git -c gpg.format=ssh',
    `-c user.signingkey=${shellWord(operatorKeyPath(dataDir))}`,
    `-c user.name=me -c user.email=operator@localhost commit -S -am "my change"`,
  ].join(' ')
  return `
gslbd answers DNS on 127.0.0.1 port ${daemon.dnsPort}; its API is ${api}

  Look at it             ${api}/ui/
  Ask it                 ${dig}
  Ask again              each answer names the next of three web servers
  Stop one of them       ${first?.hint ?? ''}
  Ask once more          about a second later it is no longer among the answers

  Change its config      git clone -b ${settings.gitops.branch} ${origin} my-config && cd my-config
                         edit tenants/default/services/www.yaml, then
                         ${sign}
                         git push
  See what it thinks     curl -s ${api}/api/v1/gitops/status

Ctrl-C stops it.

`
}
