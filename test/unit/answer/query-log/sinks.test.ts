// Where records go: a file that cannot be written and then can, and receivers that misbehave.
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Log } from '#lib/log.ts'
import { FileSink } from '#answer/query-log/file-sink.ts'
import { ControlType, controlFrame, FrameReader } from '#answer/query-log/frame-stream.ts'
import type { Frame } from '#answer/query-log/frame-stream.ts'
import { queryLogLimits } from '#answer/query-log/limits.ts'
import { pauseAfter } from '#answer/query-log/logged-queries.ts'
import { SocketSink } from '#answer/query-log/socket-sink.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

function newLog(): { readonly log: Log; readonly lines: string[] } {
  const lines: string[] = []
  const note = (_: object, message: string): void => void lines.push(message)
  return { log: { info: note, warn: note, error: note }, lines }
}

const framesIn = (octets: Buffer): readonly Frame[] => {
  const frames = new FrameReader().push(octets)
  if (!frames.ok) throw new Error(frames.error)
  return frames.value
}
const kindsOf = (frames: readonly Frame[]): readonly (string | number)[] =>
  frames.map((frame) => (frame.kind === 'data' ? Buffer.from(frame.octets).toString() : frame.type))

function fileScene(name: string, parts: { fileBytesMax?: number; keptFiles?: number } = {}) {
  const home = tempDir('query-log')
  const path = join(home, name)
  let nowMs = 0
  const { log, lines } = newLog()
  const sink = new FileSink({
    ...{ path, fileBytesMax: 1e6, keptFiles: 2, log, monotonicMs: () => nowMs },
    ...parts,
  })
  const put = (text: string): void => {
    sink.write(Buffer.from(text))
    sink.flush()
  }
  return { home, path, sink, lines, put, later: (ms: number) => (nowMs += ms) }
}

const { Start, Stop, Ready, Accept, Finish } = ControlType

test('a file of an earlier start is put aside, and each file is whole', async () => {
  const { home, path, sink, put } = fileScene('log')
  writeFileSync(path, 'older')
  put('one')
  await sink.close()
  expect(readdirSync(home).sort()).toEqual(['log', 'log.1'])
  expect(readFileSync(`${path}.1`, 'utf8')).toBe('older')
  expect(kindsOf(framesIn(readFileSync(path)))).toEqual([Start, 'one', Stop])
})

test('a file that cannot be written is tried again after a pause, and told of once', async () => {
  const { home, path, sink, lines, put, later } = fileScene('made-later/log')
  expect(sink.counts.isFailing).toBe(false)
  put('lost')
  put('not tried')
  later(queryLogLimits.retries.mostMs)
  put('lost as well')
  expect(sink.counts).toMatchObject({ written: 0, dropped: 3, isUp: false, isFailing: true })
  mkdirSync(join(home, 'made-later'))
  later(queryLogLimits.retries.mostMs)
  put('written')
  expect(sink.counts).toMatchObject({ isUp: true, isFailing: false })
  await sink.close()
  expect(sink.counts).toMatchObject({ written: 1, dropped: 3 })
  expect(lines).toEqual([
    'the query log cannot be written; its records are lost until it can',
    'the query log is written again',
  ])
  expect(kindsOf(framesIn(readFileSync(path)))).toEqual([Start, 'written', Stop])
})

test('a file that cannot be begun, however often it is tried, costs none that is closed', () => {
  const { home, path, sink, put, later } = fileScene('log')
  writeFileSync(`${path}.1`, 'newest')
  writeFileSync(`${path}.2`, 'oldest')
  // A link to nowhere: nothing is there, and nothing can be begun.
  symlinkSync(join(home, 'nowhere'), path)
  for (let tries = 0; tries < 4; tries++) {
    put('lost')
    later(queryLogLimits.retries.mostMs)
  }
  expect(sink.counts).toMatchObject({ written: 0, dropped: 4 })
  const kept = [1, 2].map((i) => readFileSync(`${path}.${i}`, 'utf8'))
  expect(kept).toEqual(['newest', 'oldest'])
})

test('a device in its place stays where it is', () => {
  const { path, sink, put } = fileScene('null')
  symlinkSync('/dev/null', path)
  put('lost')
  expect([sink.counts.dropped, readdirSync(join(path, '..'))]).toEqual([1, ['null']])
})

test('a log that keeps no closed file has only one file', async () => {
  const { home, sink, put } = fileScene('log', { fileBytesMax: 200, keptFiles: 0 })
  for (let i = 0; i < 20; i++) put('x'.repeat(50))
  await sink.close()
  expect(readdirSync(home)).toEqual(['log'])
})

/** A receiver: what it gets, and what it says to READY. */
async function receiver(path: string, answer: Buffer | undefined) {
  const frames: Frame[] = []
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    const reader = new FrameReader()
    sockets.push(socket)
    socket.on('error', () => undefined)
    socket.on('data', (octets: Buffer) => {
      const read = reader.push(octets)
      if (!read.ok) return
      frames.push(...read.value)
      const has = (type: number): boolean =>
        read.value.some((frame) => frame.kind === 'control' && frame.type === type)
      if (has(Ready) && answer !== undefined) socket.write(answer)
      if (has(Stop)) socket.write(controlFrame(Finish))
    })
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { frames, sockets }
}

function socketScene(path: string, handshakeMs = 60_000) {
  const { log, lines } = newLog()
  const sink = new SocketSink({ path, log, handshakeMs, monotonicMs: () => performance.now() })
  onTestFinished(() => sink.close())
  return { sink, lines }
}

test('a receiver hears what comes, gets it, and is told of the end', async () => {
  const path = join(tempDir('query-log'), 'socket')
  const { frames } = await receiver(path, controlFrame(Accept))
  const { sink } = socketScene(path)
  sink.write(Buffer.from('too early'))
  await waitUntil('the connection', () => sink.counts.isUp)
  expect(sink.counts.isFailing).toBe(false)
  sink.write(Buffer.from('one'))
  sink.write(Buffer.from('two'))
  sink.flush()
  await sink.close()
  expect(kindsOf(frames)).toEqual([Ready, Start, 'one', 'two', Stop])
  expect(sink.counts).toMatchObject({ written: 2, dropped: 1, isUp: false })
})

const otherContent = Buffer.from('00000000000000100000000100000001000000046e6f6e65', 'hex')

test.each([
  ['that takes something else', otherContent],
  ['that sends data', Buffer.from('0000000161', 'hex')],
  ['that speaks another language', Buffer.from('HTTP/1.1 400 Bad Request\r\n')],
  ['that says nothing', undefined],
])('a receiver %s is left, told of once, and tried again', async (_, answer) => {
  const path = join(tempDir('query-log'), 'socket')
  const { sockets } = await receiver(path, answer)
  const { sink, lines } = socketScene(path, 20)
  await waitUntil('a second try', () => sockets.length >= 2)
  expect(sink.counts).toMatchObject({ isUp: false, isFailing: true })
  expect(lines).toEqual([
    'the receiver of the query log is away; records are lost until it is back',
  ])
})

test('a receiver that takes nothing more fills no memory', async () => {
  const path = join(tempDir('query-log'), 'socket')
  const { sockets } = await receiver(path, controlFrame(Accept))
  const { sink } = socketScene(path)
  await waitUntil('the connection', () => sink.counts.isUp)
  sockets[0]!.pause()
  const record = Buffer.alloc(60_000, 1)
  const most = (queryLogLimits.waitingBytesMax * 3) / record.length
  for (let i = 0; i < most; i++) sink.write(record)
  expect(sink.counts.dropped).toBeGreaterThan(most / 2)
  sockets[0]!.destroy()
})

test.each([
  [50, 0, 50],
  [10, 0, 20],
  [10, 256, 10],
  [10, 1_024, 2.5],
  [1, 1_024, 1],
  [50, 5, 50],
])('after %i ms and %i records the next look is %f ms later', (pausedMs, records, next) => {
  expect(pauseAfter(pausedMs, records)).toBe(next)
})
