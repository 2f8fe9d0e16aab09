// Starts the rest of a command as a process of its own, and waits until that one is ready.
import { spawn } from 'node:child_process'
import { closeSync, writeSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { variable } from '#cli/terminal/command.ts'
import type { Io } from '#cli/terminal/command.ts'

/** Names the descriptor on which the other process says that it is ready. */
const readyVariable = 'GSLB_READY_FD'
const readyFd = 3

/** @returns whether it got ready; its output is ours, and says why not */
export async function startDetached(args: readonly string[], env: Io['env']): Promise<boolean> {
  const program = process.argv[1] ?? ''
  const child = spawn(process.execPath, [...process.execArgv, program, ...args], {
    detached: true,
    env: { ...env, [readyVariable]: String(readyFd) },
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  })
  const ready = child.stdio[readyFd] as Readable
  const isReady = new Promise<boolean>((resolve) => {
    ready.once('data', () => resolve(true)).once('close', () => resolve(false))
    child.once('error', () => resolve(false))
  })
  const told = await isReady
  ready.destroy()
  // One that has failed says why before it ends.
  if (!told) await new Promise((resolve) => child.once('exit', resolve).once('error', resolve))
  child.unref()
  return told
}

/** Tells who has started this process, if somebody waits, that it is ready. */
export function sayReady(env: Io['env']): void {
  if (variable(env, readyVariable) !== String(readyFd)) return
  try {
    writeSync(readyFd, 'ready\n')
    closeSync(readyFd)
  } catch {
    // Nobody waits any more.
  }
}
