// Sends dnstap records to a receiver at a Unix socket: connects, negotiates the content type, and
// retries with growing pauses.
import { createConnection } from 'node:net'
import type { Socket } from 'node:net'
import { backoffMs } from '#lib/backoff.ts'
import type { Log } from '#lib/log.ts'
import { ControlType, controlFrame, FrameReader, takesDnstap } from './frame-stream.ts'
import type { Frame } from './frame-stream.ts'
import { queryLogLimits } from './limits.ts'
import { FrameBatch, noCounts } from './sink.ts'
import type { Sink } from './sink.ts'

interface SocketSinkParts {
  readonly path: string
  /** Default `queryLogLimits.handshakeMs`. */
  readonly handshakeMs?: number
  readonly log: Log
  readonly monotonicMs: () => number
}

export class SocketSink implements Sink {
  readonly counts = noCounts()
  readonly #parts: SocketSinkParts
  readonly #batch = new FrameBatch()
  #socket: Socket | undefined
  #timer: NodeJS.Timeout | undefined
  #openedMs = -Infinity
  #failures = 0
  #isClosing = false
  /** Called when the receiver confirms that it has everything. */
  #finished: () => void = () => undefined

  constructor(parts: SocketSinkParts) {
    this.#parts = parts
    this.#connect()
  }

  write(record: Uint8Array): void {
    const waiting = this.#batch.bytes + (this.#socket?.writableLength ?? 0)
    if (!this.counts.isUp || waiting > queryLogLimits.waitingBytesMax) {
      this.counts.dropped++
      return
    }
    this.#batch.add(record)
    if (this.#batch.isFull) this.flush()
  }

  flush(): void {
    const { records, bytes } = this.#batch
    if (records === 0) return
    const octets = this.#batch.take()
    if (!this.counts.isUp || this.#socket === undefined) {
      this.counts.dropped += records
      return
    }
    this.#socket.write(octets, (error) => {
      if (error) this.counts.dropped += records
      else {
        this.counts.written += records
        this.counts.bytes += bytes
      }
    })
  }

  async close(): Promise<void> {
    this.flush()
    this.#isClosing = true
    clearTimeout(this.#timer)
    const socket = this.#socket
    if (socket === undefined) return
    if (this.counts.isUp) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#finished = resolve
      const patience = setTimeout(resolve, queryLogLimits.finishMs)
      socket.write(controlFrame(ControlType.Stop))
      await promise
      clearTimeout(patience)
    }
    this.counts.isUp = false
    socket.destroy()
  }

  #connect(): void {
    const socket = createConnection(this.#parts.path)
    const reader = new FrameReader()
    let fault = 'it has ended the connection'
    this.#socket = socket
    this.#timer = setTimeout(() => {
      fault = 'it says nothing: no receiver of Frame Streams?'
      socket.destroy()
    }, this.#parts.handshakeMs ?? queryLogLimits.handshakeMs)
    socket.on('connect', () => void socket.write(controlFrame(ControlType.Ready)))
    socket.on('error', (error) => (fault = error.message))
    socket.on('data', (octets: Buffer) => {
      const frames = reader.push(octets)
      const wrong = frames.ok ? this.#hear(frames.value, socket) : frames.error
      if (wrong === undefined) return
      fault = wrong
      socket.destroy()
    })
    socket.once('close', () => this.#lost(fault))
  }

  /** @returns the fault in the receiver's frames, if any */
  #hear(frames: readonly Frame[], socket: Socket): string | undefined {
    for (const frame of frames) {
      if (frame.kind === 'data') return 'it sends data, which only we do'
      if (frame.type === ControlType.Finish) this.#finished()
      if (frame.type !== ControlType.Accept || this.counts.isUp) continue
      if (!takesDnstap(frame)) return 'it does not take dnstap'
      clearTimeout(this.#timer)
      socket.write(controlFrame(ControlType.Start))
      Object.assign(this.counts, { isUp: true, isFailing: false })
      this.#openedMs = this.#parts.monotonicMs()
      this.#parts.log.info({ socket: this.#parts.path }, 'the query log has its receiver')
    }
    return undefined
  }

  #lost(fault: string): void {
    clearTimeout(this.#timer)
    this.#finished()
    this.#socket = undefined
    const wasUp = this.counts.isUp
    this.counts.isUp = false
    if (this.#isClosing) return
    this.counts.isFailing = true
    const { path, log, monotonicMs } = this.#parts
    const wasStable = wasUp && monotonicMs() - this.#openedMs >= queryLogLimits.stableMs
    this.#failures = wasStable ? 1 : this.#failures + 1
    // Logged at the first failure, not at each retry.
    if (wasUp || this.#failures === 1) {
      log.error(
        { socket: path, reason: fault },
        'the receiver of the query log is away; records are lost until it is back',
      )
    }
    const pauseMs = backoffMs(queryLogLimits.retries, this.#failures)
    this.#timer = setTimeout(() => this.#connect(), pauseMs)
  }
}
