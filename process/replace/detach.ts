// Runs the rest of a command in a process of its own, and waits until that process is ready.
import { spawn } from 'node:child_process'
import { closeSync, constants, fstatSync, openSync, readlinkSync, writeSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { holderOf } from '#process/data/data-dir.ts'
import { variable } from '#system/process/command.ts'
import type { Io } from '#system/process/command.ts'
import { openDescriptors } from '#system/sockets/descriptors.ts'

/** Names the descriptor on which the new process reports that it is ready. */
const readyVariable = 'GSLB_READY_FD'
const readyFd = 3
/** Names the outputs that the new process gives up when it is ready. */
const lentVariable = 'GSLB_LENT_FDS'
const laterFd = 4

export interface DetachedStart {
  /** Words of the command line. */
  readonly args: readonly string[]
  readonly dataDir: string
  readonly io: Pick<Io, 'env' | 'out' | 'err'>
}

/**
 * The new process writes to this process's output, also why it does not get ready. The reader of a
 * pipe waits until nobody holds it, so a pipe is lent only until the process is ready.
 *
 * @returns whether it got ready
 */
export async function startDetached({ args, dataDir, io }: DetachedStart): Promise<boolean> {
  const program = process.argv[1] ?? ''
  const lent = [1, 2].filter((fd) => isPipe(fd, io.env))
  const later = lent.length === 0 ? undefined : openLater(dataDir)
  const output = (fd: number) => (lent.includes(fd) ? 'pipe' : 'inherit')
  const child = spawn(process.execPath, [...process.execArgv, program, ...args], {
    detached: true,
    env: { ...io.env, [readyVariable]: String(readyFd), [lentVariable]: lent.join(',') },
    stdio: ['ignore', output(1), output(2), 'pipe', ...(later === undefined ? [] : [later.fd])],
  })
  if (later !== undefined) closeSync(later.fd)
  const said = Promise.all([passOn(child.stdout, io.out), passOn(child.stderr, io.err)])
  const ready = child.stdio[readyFd] as Readable
  const isReady = new Promise<boolean>((resolve) => {
    ready.once('data', () => resolve(true)).once('close', () => resolve(false))
    child.once('error', () => resolve(false))
  })
  const isStarted = await isReady
  ready.destroy()
  // A process that failed gives the reason before it ends.
  if (!isStarted) await new Promise((resolve) => child.once('exit', resolve).once('error', resolve))
  await said
  child.unref()
  if (isStarted && later !== undefined) io.err(`gslbd: this output ends here; ${later.words}\n`)
  return isStarted
}

/** The journal of systemd is a socket, and takes lines as long as a unit runs: it is no pipe. */
function isPipe(fd: number, env: Io['env']): boolean {
  try {
    const stat = fstatSync(fd)
    const isJournal = variable(env, 'JOURNAL_STREAM') === `${stat.dev}:${stat.ino}`
    return stat.isFIFO() || (stat.isSocket() && !isJournal)
  } catch {
    // The descriptor is closed.
    return false
  }
}

/**
 * Where the new process logs from then on: where the replaced process logs, if that can be opened.
 */
function openLater(dataDir: string): { readonly fd: number; readonly words: string } {
  const pid = holderOf(dataDir)
  const path = `/proc/${pid}/fd/1`
  if (pid !== undefined) {
    try {
      const { O_WRONLY, O_APPEND, O_NONBLOCK, O_NOCTTY } = constants
      const fd = openSync(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY)
      return {
        fd,
        words: `the log goes on where process ${pid} wrote its own, ${readlinkSync(path)}`,
      }
    } catch {
      // The log is a socket, a pipe without a reader, or may not be opened.
    }
  }
  const words = 'the log goes nowhere from now on: write to a file in place of a pipe to have it'
  return { fd: openSync('/dev/null', 'w'), words }
}

/** Copies output; resolves when the other process no longer holds it. */
function passOn(from: Readable | null, to: (text: string) => void): Promise<void> {
  if (from === null) return Promise.resolve()
  from.setEncoding('utf8').on('data', to)
  return new Promise((resolve) => from.once('close', resolve))
}

/** Reports to the process that started this one, if it waits, that it is ready. */
export async function reportReady(env: Io['env']): Promise<void> {
  if (variable(env, readyVariable) !== String(readyFd)) return
  await leaveLent(variable(env, lentVariable)?.split(',').map(Number) ?? [])
  try {
    writeSync(readyFd, 'ready\n')
    closeSync(readyFd)
  } catch {
    // The other process no longer waits.
  }
}

/** Switches lent outputs after everything written so far was sent. */
async function leaveLent(lent: readonly number[]): Promise<void> {
  if (lent.length === 0) return
  const streams = [process.stdout, process.stderr]
  await Promise.all(
    streams.map((stream) => new Promise<void>((resolve) => stream.write('', () => resolve()))),
  )
  // Only after the callback does the event loop stop watching the descriptor.
  await setImmediate()
  const descriptors = openDescriptors()
  for (const fd of lent) descriptors?.put(laterFd, fd)
  descriptors?.close(laterFd)
}
