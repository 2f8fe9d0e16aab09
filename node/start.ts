// Runs a node: starts what its roles need, in place of another process where that is requested, and
// ends it at a signal or when another process has taken its place.
import type { Predecessor } from '#process/data/predecessor.ts'
import { startCalledOff } from '#process/data/called-off.ts'
import type { NodeStart } from '#node/parts/part.ts'
import type { StartNode } from '#node/daemon/daemon.ts'
import type { Daemon } from '#process/replace/daemon.ts'
import { endPatienceMs, endWithin, giveUp } from '#process/end-now.ts'
import type { ProcessLog } from '#process/log.ts'
import { openSupervisor } from '#process/supervisor.ts'
import { reportReady } from '#process/replace/detach.ts'
import { awaitPredecessor } from '#process/replace/meet-predecessor.ts'
import { ReplaceableDaemon } from '#process/replace/replaceable.ts'
import { noThreads } from '#server/threads/no-threads.ts'
import type { CreateThreads } from '#server/threads/threads-port.ts'
import type { Settings } from '#settings/settings.ts'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

/**
 * Signals within this time count as one: both the terminal and npm pass Ctrl-C on. A person takes
 * longer to press it again.
 */
const echoMs = 250

/** `restart`: the supervisor is to start the process again. */
type Ending = 'end' | 'restart'

interface RunningDaemon extends Pick<Daemon, 'reload' | 'stop' | 'isRestarting'> {
  /** Resolves with the process that has replaced this one. Left out: none can. */
  readonly replaced?: Promise<number>
}

interface NodeRun extends Pick<NodeStart, 'settings' | 'log' | 'env'> {
  /** True: replaces a running process, if there is one. */
  readonly isReplacing: boolean
  /** Reads the settings again, at SIGHUP. */
  readonly reread: () => Result<Settings, string[]>
}

/** @returns when the node has ended. Errors: a sentence for the operator */
export function runNode(node: NodeRun): Promise<Result<Ending, string>> {
  const patienceMs = endPatienceMs + drainMsOf(node.settings)
  const start = (calledOff: AbortSignal) => startReplaceable(node, calledOff)
  return runUntilSignal(start, node.log, node.reread, patienceMs)
}

/** Time of a stop for routers to react, and for a BGP daemon that does not answer. */
const drainMsOf = ({ anycast }: Settings): number =>
  anycast.driver === 'none' ? 0 : 2 * anycast.drainMs

async function startReplaceable(
  run: NodeRun,
  calledOff: AbortSignal,
): Promise<Result<ReplaceableDaemon, string>> {
  const { settings, log, env, isReplacing } = run
  const startNode = await starterOf(settings)
  const createThreads = await threadsByRole(settings)
  const met = isReplacing ? await awaitPredecessor(settings.dataDir, log) : ok(null)
  if (!met.ok) return met
  const before = met.value
  if (isReplacing && before === null) {
    log.info({ dataDir: settings.dataDir }, 'no process to replace here: starting as usual')
  }
  const daemon = await startNode({ settings, log, env, before, createThreads, calledOff })
  if (!daemon.ok) {
    before?.giveUp()
    return daemon
  }
  await before?.running()
  const supervisor = openSupervisor({ ...env, ...before?.variables })
  // Uses the settings of now, which may have been reloaded: their roles decide which threads run.
  const again = async (now: Settings, own: Predecessor) =>
    startNode({ settings: now, log, env, before: own, createThreads: await threadsByRole(now) })
  const node = new ReplaceableDaemon(daemon.value, { settings, log, supervisor, again })
  await reportReady(env)
  return ok(node)
}

/** Loads the code of the roles, and no more. */
async function starterOf({ roles }: Settings): Promise<StartNode> {
  if (roles.includes('agent')) return (await import('#node/fleet/agent-node.ts')).startAgent
  return roles.includes('control')
    ? (await import('#node/daemon/daemon.ts')).startWholeNode
    : (await import('#node/fleet/dns-node.ts')).startDnsNode
}

/** Loads the code that answers, if this node is to answer. */
export async function threadsByRole({ roles }: Settings): Promise<CreateThreads> {
  if (!roles.includes('dns')) return () => noThreads
  const { createThreadGroup } = await import('#server/threads/thread-group.ts')
  return createThreadGroup
}

/**
 * Starts a daemon and runs it until a signal ends it. A signal during the start calls it off. A
 * second signal, or the end of `patienceMs`, ends the process.
 *
 * @returns when the daemon has ended. Errors: those of `start`
 */
export async function runUntilSignal(
  start: (calledOff: AbortSignal) => Promise<Result<RunningDaemon, string>>,
  log: ProcessLog,
  reread: () => Result<Settings, string[]>,
  patienceMs = endPatienceMs,
): Promise<Result<Ending, string>> {
  let hangups: Promise<void> = Promise.resolve()
  let early = 0
  let reload = (): void => void early++
  process.on('SIGHUP', () => reload())
  const asked = firstStopSignal(log, patienceMs)
  const calling = new AbortController()
  void asked.then((signal) => calling.abort(signal))
  const daemon = await start(calling.signal)
  if (!daemon.ok) return daemon.error === startCalledOff ? ok('end') : daemon
  reload = () => {
    hangups = hangups.then(() => reloadOnce(daemon.value, log, reread))
  }
  if (early > 0) reload()
  log.info(await Promise.race([asked, replaced(daemon.value, log, patienceMs)]), 'stopping')
  reload = () => undefined
  await hangups
  await daemon.value.stop()
  return ok(daemon.value.isRestarting() ? 'restart' : 'end')
}

/** Resolves when another process has taken this one's place. */
async function replaced(
  daemon: RunningDaemon,
  log: ProcessLog,
  patienceMs: number,
): Promise<{ readonly replacedBy: number }> {
  const pid = await (daemon.replaced ?? new Promise<never>(() => undefined))
  endWithin(patienceMs, log)
  return { replacedBy: pid }
}

async function reloadOnce(
  daemon: RunningDaemon,
  log: ProcessLog,
  reread: () => Result<Settings, string[]>,
): Promise<void> {
  try {
    const settings = reread()
    if (settings.ok) await daemon.reload(settings.value)
    else log.error({ problems: settings.error }, 'settings not reloaded, the old ones stay')
  } catch (error) {
    // A reload that fails must not end a daemon that answers.
    log.error({ err: error }, 'the reload failed; answers go on')
  }
}

/**
 * Resolves at the first signal; from then on one more signal, or the end of `patienceMs`, ends the
 * process at once.
 */
function firstStopSignal(
  log: ProcessLog,
  patienceMs: number,
): Promise<{ readonly signal: NodeJS.Signals }> {
  return new Promise((resolve) => {
    let askedAtMs: number | undefined
    const onSignal = (signal: NodeJS.Signals): void => {
      const nowMs = systemClock.monotonicMs()
      if (askedAtMs === undefined) {
        askedAtMs = nowMs
        endWithin(patienceMs, log)
      } else if (nowMs - askedAtMs > echoMs) giveUp(`${signal} came a second time`, log)
      resolve({ signal })
    }
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal)
  })
}
