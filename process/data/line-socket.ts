// Serves a socket in the data directory of a running node: other processes of its user send one
// line, and get one back.
import { chmodSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import type { Socket } from 'node:net'
import { openControlPath } from './control-path.ts'

interface LineSocketParts {
  readonly dataDir: string
  readonly name: string
  /** Octets of the longest question. */
  readonly bytesMax: number
  /** Answers a question; undefined: it gets no answer. */
  readonly answer: (line: string) => Promise<string | undefined>
  /** Called when there is no socket, or no longer. */
  readonly onFault: (error: unknown) => void
}

export interface LineSocket {
  readonly close: () => void
}

const connectionsMax = 8
/** Time for sending a question, which the client has ready. */
const questionMs = 5_000

export function openLineSocket(parts: LineSocketParts): LineSocket {
  const { dataDir, name, onFault } = parts
  try {
    const place = openControlPath(dataDir, name)
    const sockets = new Set<Socket>()
    let isOpen = true
    const server = createServer((socket) => {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
      void answerOn(socket, parts)
    })
    const close = (): void => {
      if (!isOpen) return
      isOpen = false
      server.close()
      for (const socket of sockets) socket.destroy()
      rmSync(place.path, { force: true })
      place.close()
    }
    rmSync(place.path, { force: true })
    server.maxConnections = connectionsMax
    server.on('error', (error) => {
      onFault(error)
      close()
    })
    server.listen(place.path, () => {
      if (isOpen) chmodSync(place.path, 0o600)
    })
    return { close }
  } catch (error) {
    onFault(error)
    return { close: () => undefined }
  }
}

async function answerOn(socket: Socket, { bytesMax, answer }: LineSocketParts): Promise<void> {
  const timer = setTimeout(() => socket.destroy(), questionMs)
  const question = await firstLine(socket, bytesMax)
  clearTimeout(timer)
  const line = question === undefined ? undefined : await answer(question)
  if (line === undefined) socket.destroy()
  else socket.end(`${line}\n`)
}

interface LinePlace {
  readonly dataDir: string
  readonly name: string
  /** Octets of the longest answer. */
  readonly bytesMax: number
  readonly patienceMs: number
}

/** @returns undefined: there is no answer. Never rejects. */
export async function askLineSocket(
  { dataDir, name, bytesMax, patienceMs }: LinePlace,
  line: string,
): Promise<string | undefined> {
  try {
    const place = openControlPath(dataDir, name)
    const socket = connect(place.path)
    const timer = setTimeout(() => socket.destroy(), patienceMs)
    try {
      const answer = firstLine(socket, bytesMax)
      socket.write(line)
      return await answer
    } finally {
      clearTimeout(timer)
      socket.destroy()
      place.close()
    }
  } catch {
    return undefined
  }
}

/** The first line that arrives; undefined: the connection ends before, or the line is too long. */
function firstLine(socket: Socket, bytesMax: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const parts: Buffer[] = []
    let bytes = 0
    socket.on('data', (part: Buffer) => {
      const end = part.indexOf(10)
      parts.push(end < 0 ? part : part.subarray(0, end))
      bytes += part.length
      if (end >= 0) resolve(Buffer.concat(parts).toString())
      else if (bytes > bytesMax) socket.destroy()
    })
    socket.on('error', () => undefined).on('close', () => resolve(undefined))
  })
}
