// Runs the steps of making a package: prints each, and leaves no partial result when one fails or a
// signal ends it.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { systemClock } from '#lib/clock.ts'
import { systemAfter } from '#lib/timer.ts'
import { Exit } from '#system/process/command.ts'
import { openProgress } from '#system/process/progress.ts'

export interface Steps {
  /** Folder that is removed at the end in any case. */
  readonly stage: string
  /** Prints the step that begins, in a few words. */
  readonly say: (doing: string) => void
  /** @throws StepFault: the program is not installed, has failed, or a signal came */
  readonly run: (program: string, ...args: readonly string[]) => Promise<void>
}

/** A step that failed; its message is a sentence for the packager. */
export class StepFault extends Error {}

const newline = 10
/** Shells report a process that a signal ended by this number plus that of the signal. */
const ofSignals = 128
/** Some steps add a user and install packages, for which a chroot suffices. */
const env = { BUILDAH_ISOLATION: 'chroot', ...process.env }

/** Runs the steps, and ends the process with 0 or with the code of the fault. */
export async function takeSteps(
  name: string,
  make: (steps: Steps) => Promise<void>,
): Promise<void> {
  const stage = mkdtempSync(join(tmpdir(), `gslbd-${name}-`))
  const stop = new AbortController()
  const progress = openProgress({
    write: (text) => process.stderr.write(text),
    ...{ isTerminal: process.stderr.isTTY, clock: systemClock, after: systemAfter },
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      process.exitCode = ofSignals + constants.signals[signal]
      stop.abort(new StepFault(`stopped by ${signal}: no package was written`))
    })
  }
  const { say } = progress
  const pass = (from: Readable, to: NodeJS.WriteStream): void => {
    from.on('data', (octets: Buffer) => {
      progress.pause()
      to.write(octets)
      if (octets.at(-1) === newline) progress.resume()
    })
  }
  const run: Steps['run'] = async (program, ...args) => {
    stop.signal.throwIfAborted()
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    pass(child.stdout, process.stdout)
    pass(child.stderr, process.stderr)
    const end = (): void => void child.kill('SIGTERM')
    stop.signal.addEventListener('abort', end)
    const ended = new Promise<string | undefined>((resolve) => {
      child.once('error', (error) => resolve(faultOf(program, error)))
      child.once('close', (code) => resolve(code === 0 ? undefined : `${program} failed (${code})`))
    })
    const fault = await ended
    stop.signal.removeEventListener('abort', end)
    stop.signal.throwIfAborted()
    if (fault !== undefined) throw new StepFault(fault)
  }
  try {
    await make({ stage, say, run })
  } catch (error) {
    progress.clear()
    process.exitCode ??= Exit.Internal
    console.error(error instanceof StepFault ? error.message : error)
  } finally {
    progress.clear()
    rmSync(stage, { recursive: true, force: true })
  }
}

function faultOf(program: string, error: NodeJS.ErrnoException): string {
  if (error.code !== 'ENOENT') return `${program} does not run: ${error.message}`
  return `${program} is not installed\nOn Debian: apt-get install buildah dpkg-dev mmdebstrap`
}
