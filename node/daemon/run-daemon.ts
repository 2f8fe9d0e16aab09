// Runs a daemon under the process's signals: SIGTERM and SIGINT stop it, SIGHUP reloads its
// settings; it also ends when another process has taken its place.
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { Daemon } from './daemon.ts'
import { endPatienceMs, endWithin, giveUp } from '#node/process/end-now.ts'
import type { ProcessLog } from '#node/process/log.ts'
import type { Settings } from '#settings/settings.ts'

/**
 * The terminal and npm both pass Ctrl-C on, so that one keystroke comes as two signals; a person
 * takes longer to ask again.
 */
const echoMs = 250

/** `restart`: the supervisor of the process is to start it again. */
export type Ending = 'end' | 'restart'

export interface RunningDaemon extends Pick<Daemon, 'reload' | 'stop' | 'isRestarting'> {
  /** Resolves with the process that has taken its place. Left out: none can. */
  readonly replaced?: Promise<number>
}

/**
 * Starts a daemon and runs it until a signal ends it. Signals count from the first moment: one that
 * comes during the start ends the daemon cleanly right after it. A second one, or the end of
 * `patienceMs`, ends the process.
 *
 * @returns when the daemon has ended. Errors: those of `start`
 */
export async function runUntilSignal(
  start: () => Promise<Result<RunningDaemon, string>>,
  log: ProcessLog,
  reread: () => Result<Settings, string[]>,
  patienceMs = endPatienceMs,
): Promise<Result<Ending, string>> {
  let hangups: Promise<void> = Promise.resolve()
  let early = 0
  let reload = (): void => void early++
  process.on('SIGHUP', () => reload())
  const asked = firstStopSignal(log, patienceMs)
  const daemon = await start()
  if (!daemon.ok) return daemon
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

/** Resolves when another process has taken its place. */
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
 * After it has resolved, one more signal ends the process at once: a person who asks twice is in a
 * hurry. So does the end of `patienceMs`.
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
