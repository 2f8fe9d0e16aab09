// Asks, as the successor, the process that holds a data directory for its sockets, and then for its
// place.
import { fileText } from '#lib/text/file-text.ts'
import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { assert } from '#lib/assert.ts'
import { holderOf } from '#process/data/data-dir.ts'
import type { Predecessor } from '#process/data/predecessor.ts'
import { systemClock } from '#lib/clock.ts'
import { version } from '#lib/version.ts'
import type { Log } from '#lib/log.ts'
import { parseJson } from '#lib/text/json.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { noLongerThan } from '#lib/timer.ts'
import { openDescriptors } from '#system/sockets/descriptors.ts'
import type { Descriptors, Received } from '#system/sockets/descriptors.ts'
import { HandedSockets } from '#system/sockets/handed-sockets.ts'
import type { ListenerSockets } from '#system/sockets/handed-sockets.ts'
import { openControlPath } from '#process/data/control-path.ts'
import { lineOf, protocol, readLines, readOffer, stepOf } from './messages.ts'
import type { Hello, Offer, Step } from './messages.ts'

interface MetPredecessor extends Predecessor {
  /** Variables of its supervisor, which supervises this process from now on. */
  readonly variables: Readonly<Record<string, string>>
  /** Declares this process to be the node. Resolves when the one before has ended. */
  readonly running: () => Promise<void>
  /** Declares that this process failed: the one before goes on. */
  readonly giveUp: () => void
}

interface Patience {
  /** Time for an answer to the request for sockets, which needs no work. */
  readonly answerMs: number
  /** Time to let go: the process before writes its counters. Then it is killed. */
  readonly letGoMs: number
  readonly endMs: number
  /** Interval of log lines while this process waits. */
  readonly logEveryMs: number
}

const usualPatience: Patience = {
  ...{ answerMs: 15_000, letGoMs: 60_000, endMs: 15_000 },
  logEveryMs: 5_000,
}
/** Errors that mean that nobody listens there: no process, or an older version. */
const nobodyCodes: readonly string[] = ['ENOENT', 'ECONNREFUSED', 'ENOTDIR']

/** @returns null: there is no process to replace. Errors: a sentence for the operator */
export function meetPredecessor(
  dataDir: string,
  log: Log,
  patience = usualPatience,
): Result<MetPredecessor | null, string> {
  const descriptors = openDescriptors()
  if (descriptors === undefined) return err('--replace needs Linux, and the package koffi')
  const connected = connect(descriptors, dataDir, patience.answerMs)
  if (!connected.ok) {
    return nobodyCodes.includes(connected.error)
      ? ok(null)
      : err(cannotAsk(dataDir, connected.error))
  }
  const socket = connected.value
  const offered = ask(descriptors, socket)
  if (!offered.ok) {
    descriptors.close(socket)
    return err(`${cannotReplace(dataDir)}: ${offered.error}`)
  }
  const { offer, received } = offered.value
  const handed = new HandedSockets(socketsOf(offer, received.descriptors), offer.isServing)
  log.info({ pid: offer.pid, version }, 'replacing the process that holds the data directory')
  return ok(new Met(socket, offer, handed, log, patience))
}

/** How long the start of a process that holds the directory may take. */
const startPatienceMs = 30_000
const lookEveryMs = 100

/**
 * As `meetPredecessor`, and waits for a process that is starting: it holds the directory, but does
 * not answer yet.
 */
export async function awaitPredecessor(
  dataDir: string,
  log: Log,
  patienceMs = startPatienceMs,
): Promise<Result<MetPredecessor | null, string>> {
  const endMs = systemClock.monotonicMs() + patienceMs
  for (let looks = 0; ; looks++) {
    const met = meetPredecessor(dataDir, log)
    const pid = holderOf(dataDir)
    const isStarting = met.ok && met.value === null && pid !== undefined
    if (!isStarting || systemClock.monotonicMs() >= endMs) return met
    if (looks === 0)
      log.info({ pid, dataDir }, 'the process to replace is starting: waiting for it')
    await sleep(lookEveryMs)
  }
}

function connect(
  descriptors: Descriptors,
  dataDir: string,
  patienceMs: number,
): Result<number, string> {
  try {
    const place = openControlPath(dataDir)
    try {
      return descriptors.connect(place.path, patienceMs)
    } finally {
      place.close()
    }
  } catch (error) {
    return err((error as NodeJS.ErrnoException).code ?? String(error))
  }
}

/** Blocks: nothing else runs in this process yet. */
function ask(
  descriptors: Descriptors,
  socket: number,
): Result<{ readonly offer: Offer; readonly received: Received }, string> {
  const hello: Hello = {
    protocol,
    pid: process.pid,
    uid: process.getuid?.() ?? -1,
    cgroup: ownCgroup(),
  }
  const sent = descriptors.send(socket, lineOf(hello), [])
  if (!sent.ok) return err(silent)
  const received = descriptors.receive(socket)
  if (!received.ok) return err(received.error === 'EAGAIN' ? silent : received.error)
  const offer = readOffer(parseJson(Buffer.from(received.value.octets).toString()))
  const counted = offer.ok ? offer.value.sockets.reduce((sum, { count }) => sum + count, 0) : 0
  if (offer.ok && counted === received.value.descriptors.length) {
    return ok({ offer: offer.value, received: received.value })
  }
  for (const descriptor of received.value.descriptors) descriptors.close(descriptor)
  return offer.ok ? err('not all of its sockets have come over') : offer
}

/** The text of /proc/self/cgroup; '': unknown. */
export const ownCgroup = (): string => fileText('/proc/self/cgroup') ?? ''

function socketsOf(offer: Offer, descriptors: readonly number[]): ListenerSockets[] {
  let at = 0
  const sockets = offer.sockets.map(({ name, count }) => {
    at += count
    return { name, descriptors: descriptors.slice(at - count, at) }
  })
  assert(at === descriptors.length, 'each descriptor has a name')
  return sockets
}

class Met implements MetPredecessor {
  readonly sockets: HandedSockets
  readonly variables: Readonly<Record<string, string>>
  readonly #pid: number
  readonly #socket: Socket
  readonly #log: Log
  readonly #patience: Patience
  /** Resolves when the process before has ended or closes the connection. */
  readonly #closed: Promise<void>
  readonly #heard = new Set<string>()
  #onStep: () => void = () => undefined

  constructor(fd: number, offer: Offer, sockets: HandedSockets, log: Log, patience: Patience) {
    this.sockets = sockets
    this.variables = offer.variables
    this.#pid = offer.pid
    this.#log = log
    this.#patience = patience
    this.#socket = new Socket({ fd, readable: true, writable: true })
    this.#closed = new Promise((resolve) => this.#socket.once('close', () => resolve()))
    this.#socket.on('error', () => undefined)
    readLines(this.#socket, (value) => {
      this.#heard.add(stepOf(value))
      this.#onStep()
    })
  }

  async letGo(): Promise<Result<null, string>> {
    if (await this.#ask('let-go', 'gone', this.#patience.letGoMs)) return ok(null)
    // This process already answers on the sockets; data that the previous process has not written
    // is lost.
    this.#log.warn({ pid: this.#pid }, 'the process before keeps the data directory, and is killed')
    try {
      process.kill(this.#pid, 'SIGKILL')
    } catch (error) {
      return err(`the process before (${this.#pid}) does not let go: ${String(error)}`)
    }
    await noLongerThan(this.#patience.endMs, this.#closed)
    return ok(null)
  }

  async running(): Promise<void> {
    const isEnding = await this.#ask('running', 'ending', this.#patience.endMs)
    if (!isEnding) this.#log.warn({ pid: this.#pid }, 'the process before does not report its end')
    this.giveUp()
  }

  giveUp(): void {
    const descriptors = openDescriptors()
    for (const unwanted of this.sockets.takeAll()) descriptors?.close(unwanted)
    this.#socket.destroy()
  }

  /** @returns false: no answer in time. A process that has ended gives none, and need not. */
  async #ask(step: Step, answer: Step, patienceMs: number): Promise<boolean> {
    const answered = new Promise<void>((resolve) => {
      this.#onStep = () => {
        if (this.#heard.has(answer)) resolve()
      }
    })
    this.#socket.write(lineOf({ step }))
    const askedMs = systemClock.monotonicMs()
    const telling = setInterval(() => {
      const waitedMs = Math.round(systemClock.monotonicMs() - askedMs)
      this.#log.info({ pid: this.#pid, waitedMs, for: answer }, 'waiting for the process before')
    }, this.#patience.logEveryMs)
    await noLongerThan(patienceMs, Promise.race([answered, this.#closed]))
    clearInterval(telling)
    return this.#heard.has(answer) || this.#socket.destroyed
  }
}

const silent =
  'it does not answer; restart it instead ("systemctl restart gslbd"), or stop it by hand'

const cannotReplace = (dataDir: string): string =>
  `the process that holds the data directory ${dataDir} cannot be replaced`

function cannotAsk(dataDir: string, code: string): string {
  const remedy = ['EACCES', 'EPERM'].includes(code)
    ? 'run this as the user of that process'
    : 'restart it instead'
  return `${cannotReplace(dataDir)}: it cannot be asked (${code}); ${remedy}`
}
