// A successor that sends a test's greeting to the process it would replace, and takes no sockets.
import { once } from 'node:events'
import { createConnection } from 'node:net'
import type { Socket } from 'node:net'
import { openControlPath } from '#process/data/control-path.ts'
import { lineOf, protocol, readLines } from '#process/replace/messages.ts'
import type { Hello } from '#process/replace/messages.ts'
import { waitUntil } from './wait-until.ts'

export class RawSuccessor {
  readonly #socket: Socket
  readonly heard: unknown[] = []
  #isClosed = false

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('error', () => undefined).once('close', () => (this.#isClosed = true))
    readLines(socket, (value) => this.heard.push(value))
  }

  static async connect(dataDir: string): Promise<RawSuccessor> {
    const place = openControlPath(dataDir)
    // A node listens there again a moment after a failed takeover.
    const socket = await waitUntil('a node to take over from', () => connected(place.path))
    place.close()
    return new RawSuccessor(socket)
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  say(line: object | string): void {
    this.#socket.write(typeof line === 'string' ? line : lineOf(line))
  }

  /** @returns the response */
  greet(other: Partial<Hello> = {}): Promise<unknown> {
    const uid = process.getuid?.() ?? -1
    return this.ask({ protocol, pid: process.pid, uid, cgroup: '', ...other })
  }

  async ask(line: object): Promise<unknown> {
    const before = this.heard.length
    this.say(line)
    await waitUntil('an answer', () => this.heard.length > before)
    return this.heard.at(-1)
  }

  end(): void {
    this.#socket.destroy()
  }
}

/** @throws if nothing listens */
async function connected(path: string): Promise<Socket> {
  const socket = createConnection(path)
  await once(socket, 'connect')
  return socket
}
