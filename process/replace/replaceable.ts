// Makes a daemon replaceable by another process: hands over its sockets, lets go and ends; or
// continues when its successor fails.
import type { Socket } from 'node:net'
import { assert } from '#lib/assert.ts'
import type { Daemon } from './daemon.ts'
import type { Predecessor } from '#process/data/predecessor.ts'
import type { Settings } from '#settings/settings.ts'
import type { Supervisor } from '#process/supervisor.ts'
import { backoffMs } from '#lib/backoff.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { openDescriptors, descriptorsMax } from '#system/sockets/descriptors.ts'
import { HandedSockets, descriptorOf } from '#system/sockets/handed-sockets.ts'
import type { ListenerSockets } from '#system/sockets/handed-sockets.ts'
import { openControlSocket } from './control-socket.ts'
import type { ControlSocket } from './control-socket.ts'
import { ownCgroup } from './meet-predecessor.ts'
import { lineOf, readHello, readLines, stepOf } from './messages.ts'
import type { Hello, Offer, Step } from './messages.ts'

interface ReplaceableParts {
  readonly settings: Settings
  readonly log: Log
  readonly supervisor: Supervisor
  /** Starts again what was let go, beside the part that still answers. */
  readonly again: (settings: Settings, before: Predecessor) => Promise<Result<Daemon, string>>
}

/** Pauses between tries to start again. */
const tries = { firstMs: 1_000, mostMs: 60_000 } as const
/** A successor that connects says at once what it wants. */
const helloPatienceMs = 30_000

/** A process that is to replace this one. */
interface Successor {
  readonly pid: number
  readonly socket: Socket
  /** Copies of its sockets: if it fails, this process starts again with them. */
  readonly sockets: readonly ListenerSockets[]
  hasPlace: boolean
}

export class ReplaceableDaemon implements Daemon {
  readonly dnsPort: number | null
  readonly apiPort: number | null
  /** Resolves with the process that has replaced this one. */
  readonly replaced: Promise<number>
  readonly #onReplaced: (pid: number) => void
  readonly #parts: ReplaceableParts
  readonly #descriptors = openDescriptors()
  #daemon: Daemon
  #settings: Settings
  #control: ControlSocket | undefined
  #successor: Successor | undefined
  #isReplaced = false
  #isStopping = false
  /** The work under way: letting go, or starting again. */
  #turn: Promise<void> = Promise.resolve()
  #callOff: () => void = () => undefined

  constructor(daemon: Daemon, parts: ReplaceableParts) {
    const { promise, resolve } = Promise.withResolvers<number>()
    this.replaced = promise
    this.#onReplaced = resolve
    this.#parts = parts
    this.#daemon = daemon
    this.#settings = parts.settings
    this.dnsPort = daemon.dnsPort
    this.apiPort = daemon.apiPort
    this.#listen()
    parts.supervisor.ready()
  }

  sockets = (): readonly ListenerSockets[] => this.#daemon.sockets()
  isServing = (): boolean => this.#daemon.isServing()
  isRestarting = (): boolean => this.#daemon.isRestarting()
  letGo = (): Promise<void> => this.#daemon.letGo()

  reload = async (settings: Settings): Promise<void> => {
    this.#settings = settings
    await this.#daemon.reload(settings)
  }

  stop = async (): Promise<void> => {
    this.#isStopping = true
    this.#callOff()
    if (!this.#isReplaced) this.#parts.supervisor.stopping()
    this.#control?.close()
    await this.#turn
    await this.#daemon.stop()
    this.#successor?.socket.destroy()
  }

  #listen(): void {
    if (this.#descriptors === undefined || this.#isStopping) return
    assert(this.#control === undefined, 'a process has one control socket')
    const fault = (error: Error): void => {
      this.#control = undefined
      this.#parts.log.warn({ err: error }, 'no process can replace this one: no control socket')
    }
    try {
      const { dataDir } = this.#parts.settings
      this.#control = openControlSocket(dataDir, (socket) => this.#meet(socket), fault)
    } catch (error) {
      fault(error as Error)
    }
  }

  #meet(socket: Socket): void {
    const patience = setTimeout(() => socket.destroy(), helloPatienceMs)
    let successor: Successor | undefined
    socket.on('error', () => undefined)
    socket.once('close', () => {
      clearTimeout(patience)
      if (successor !== undefined) this.#lose(successor)
    })
    readLines(socket, (value) => {
      clearTimeout(patience)
      if (successor !== undefined) return this.#take(successor, stepOf(value))
      const met = this.#greet(socket, value)
      if (met.ok) successor = met.value
      else socket.end(lineOf({ refused: met.error }))
    })
  }

  #greet(socket: Socket, value: unknown): Result<Successor, string> {
    const hello = readHello(value)
    if (!hello.ok) return hello
    const refusal = this.#refusalOf(hello.value)
    if (refusal !== undefined) return err(refusal)
    const sockets = this.#copies(this.#daemon.sockets())
    if (!sockets.ok) return sockets
    const { pid } = hello.value
    const successor: Successor = { pid, socket, sockets: sockets.value, hasPlace: false }
    const sent = this.#offer(successor)
    if (!sent.ok) {
      this.#close(sockets.value)
      return err(`its sockets cannot be handed over: ${sent.error}`)
    }
    assert(this.#successor === undefined, 'one process at a time replaces this one')
    this.#successor = successor
    this.#parts.log.info({ pid }, 'another process is to replace this one')
    return ok(successor)
  }

  #refusalOf({ pid, uid, cgroup }: Hello): string | undefined {
    if (this.#isStopping || this.#isReplaced) return 'it is just ending'
    if (this.#successor !== undefined) {
      return `process ${this.#successor.pid} is just replacing it; wait for that one to end`
    }
    const own = process.getuid?.() ?? -1
    if (uid !== own) return `it runs as another user (${own}, this one is ${uid}); run this as that`
    if (process.pid === 1 && pid !== 1) {
      return 'it is the first process of a container, which ends with it: start another container'
    }
    const isWatched = this.#parts.supervisor.variables['NOTIFY_SOCKET'] !== undefined
    if (isWatched && cgroup !== ownCgroup()) {
      return 'systemd runs it and would lose sight of the new one: use "systemctl reload gslbd"'
    }
    return undefined
  }

  #offer({ socket, sockets }: Successor): Result<null, string> {
    const descriptors = sockets.flatMap((each) => each.descriptors)
    assert(descriptors.length <= descriptorsMax, 'one message takes all descriptors')
    const to = descriptorOf(socket)
    if (to === undefined) return err('the connection has no descriptor')
    const { supervisor } = this.#parts
    const offer: Offer = {
      pid: process.pid,
      isServing: this.#daemon.isServing(),
      sockets: sockets.map(({ name, descriptors: of }) => ({ name, count: of.length })),
      variables: supervisor.variables,
    }
    return this.#descriptors?.send(to, lineOf(offer), descriptors) ?? err('no descriptors')
  }

  #copies(sockets: readonly ListenerSockets[]): Result<readonly ListenerSockets[], string> {
    const open = sockets.filter(({ descriptors }) => descriptors.length > 0)
    const count = open.reduce((sum, { descriptors }) => sum + descriptors.length, 0)
    const isMute = this.#daemon.dnsPort === null
    if (!isMute && !open.some(({ name }) => name.startsWith('dns-udp '))) {
      return err('it has no batched UDP, or dns.threads is 0: restart it instead')
    }
    if (count > descriptorsMax) return err(`it has more than ${descriptorsMax} sockets`)
    const copied: ListenerSockets[] = []
    for (const { name, descriptors } of open) {
      const copies: number[] = []
      copied.push({ name, descriptors: copies })
      for (const descriptor of descriptors) {
        const copy = this.#descriptors?.copy(descriptor) ?? err('no descriptors')
        if (!copy.ok) {
          this.#close(copied)
          return err(`its sockets cannot be copied: ${copy.error}`)
        }
        copies.push(copy.value)
      }
    }
    return ok(copied)
  }

  #close(sockets: readonly ListenerSockets[]): void {
    for (const { descriptors } of sockets) {
      for (const descriptor of descriptors) this.#descriptors?.close(descriptor)
    }
  }

  #take(successor: Successor, step: string): void {
    assert(this.#successor === successor, 'only the process that was greeted takes a step')
    if (step === 'let-go' && !successor.hasPlace) {
      successor.hasPlace = true
      this.#turn = this.#makePlace(successor)
    } else if (step === 'running' && successor.hasPlace) {
      this.#isReplaced = true
      this.#parts.supervisor.replacedBy(successor.pid)
      say(successor.socket, 'ending')
      this.#onReplaced(successor.pid)
    } else successor.socket.destroy()
  }

  async #makePlace({ socket }: Successor): Promise<void> {
    if (this.#isStopping) return
    this.#control?.close()
    this.#control = undefined
    await this.#daemon.letGo()
    say(socket, 'gone')
  }

  /** A successor that disconnects before it runs has failed. */
  #lose(successor: Successor): void {
    if (this.#isReplaced || this.#isStopping) return this.#close(successor.sockets)
    assert(this.#successor === successor, 'the process that was lost was to replace this one')
    const { log } = this.#parts
    const { pid } = successor
    log.error({ pid }, 'the process that was to replace this one has ended: this one goes on')
    this.#turn = this.#turn.then(() => this.#goOn(successor))
  }

  async #goOn({ sockets, hasPlace }: Successor): Promise<void> {
    assert(!this.#isReplaced, 'a process that was replaced does not go on')
    for (let failures = 1; hasPlace && !this.#isStopping; failures++) {
      const started = await this.#again(sockets)
      if (started.ok) {
        // The daemon before answered until now; the new one reads the same sockets.
        await this.#daemon.stop()
        this.#daemon = started.value
        break
      }
      const pauseMs = backoffMs(tries, failures)
      const fields = { pauseMs, reason: started.error }
      this.#parts.log.error(fields, 'the node answers, but its other parts do not start')
      await this.#pause(pauseMs)
    }
    this.#close(sockets)
    this.#successor = undefined
    if (hasPlace) this.#listen()
  }

  async #again(sockets: readonly ListenerSockets[]): Promise<Result<Daemon, string>> {
    const copies = this.#copies(sockets)
    if (!copies.ok) return copies
    const handed = new HandedSockets(copies.value, this.#daemon.isServing())
    const before: Predecessor = {
      sockets: handed,
      letGo: async () => ok(null),
    }
    const started = await this.#parts.again(this.#settings, before)
    for (const descriptor of handed.takeAll()) this.#descriptors?.close(descriptor)
    return started
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#callOff = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

function say(socket: Socket, step: Step): void {
  if (!socket.destroyed) socket.write(lineOf({ step }))
}
