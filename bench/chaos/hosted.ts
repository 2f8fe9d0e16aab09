// Runs a program on one of the machines, restarting it when it dies, as systemd would.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Host } from './hosts.ts'

const restartMs = 1_000

interface HostedProgram {
  readonly host: Host
  readonly name: string
  /** Includes the prefix that runs it on its machine. */
  readonly command: () => readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly logFile: string
}

export class Hosted {
  readonly host: Host
  readonly name: string
  readonly #program: HostedProgram
  #child: ChildProcess | undefined
  #isWanted = false
  #isOver = false
  /** Unexpected deaths. */
  crashes = 0
  /** By `performance.now()`; -Infinity: never. */
  killedMs = -Infinity

  constructor(program: HostedProgram) {
    this.#program = program
    this.host = program.host
    this.name = program.name
  }

  get isRunning(): boolean {
    return this.#child !== undefined && isAlive(this.#child)
  }

  start(): void {
    if (this.#isOver) return
    this.#isWanted = true
    const { command, env = {}, logFile } = this.#program
    const [file = '', ...args] = command()
    const log = openSync(logFile, 'a')
    const path = `${process.env['PATH']}:/usr/sbin:/sbin`
    const child = spawn(file, args, {
      env: { PATH: path, LC_ALL: 'C', ...env },
      cwd: '/',
      stdio: ['ignore', log, log],
    })
    closeSync(log)
    this.#child = child
    child.on('error', () => undefined)
    child.once('exit', () => {
      if (!this.#isWanted || this.#child !== child) return
      this.crashes++
      void sleep(restartMs).then(() => {
        if (this.#isWanted && this.#child === child) this.start()
      })
    })
  }

  /** Ends it at once, without a restart. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.#isWanted = false
    const child = this.#child
    if (child === undefined || !isAlive(child)) return
    this.killedMs = performance.now()
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }

  /** Ends it for good: the run is over. */
  async end(): Promise<void> {
    this.#isOver = true
    await this.kill()
  }

  /** Kills it, and restarts it as a supervisor would. */
  async crash(): Promise<void> {
    await this.kill()
    await sleep(restartMs)
    this.start()
  }
}

const isAlive = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode === null && signalCode === null
