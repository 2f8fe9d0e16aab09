// The successor's side, against a process that lets go of nothing.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { awaitPredecessor, meetPredecessor } from '#process/replace/meet-predecessor.ts'
import type { Log } from '#lib/log.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const silentLog: Log = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
}
const patience = { answerMs: 60_000, letGoMs: 200, endMs: 60_000, logEveryMs: 10 }
const program = fileURLToPath(import.meta.resolve('#test/support/stubborn-process.ts'))

test('a process that does not let go is killed, and its sockets are the next one’s', async () => {
  // Longer than the name of a socket may be.
  const dataDir = tempDir('x'.repeat(120))
  const child = spawn(process.execPath, [program, dataDir], { stdio: 'inherit' })
  onTestFinished(() => void child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  const said: unknown[] = []
  const info = (fields: object, words: string): void => void said.push({ ...fields, words })
  // Its socket is there a moment before it listens.
  const met = await waitUntil('a process to replace', () => {
    const answered = meetPredecessor(dataDir, { ...silentLog, info }, patience)
    if (!answered.ok) throw new Error(answered.error)
    return answered.value
  })
  const { sockets, variables } = met
  expect(variables).toEqual({ NOTIFY_SOCKET: '/run/notify' })
  expect(sockets.areAnswered).toBe(true)
  expect(await met.letGo()).toEqual({ ok: true, value: null })
  expect(await exited).toEqual([null, 'SIGKILL'])
  expect(said).toContainEqual({
    ...{ pid: child.pid, for: 'gone', words: 'waiting for the process before' },
    waitedMs: expect.any(Number) as number,
  })
  const [fd] = sockets.take('api 127.0.0.1 0')
  const server = createServer().listen({ fd: fd ?? -1 })
  await once(server, 'listening')
  server.close()
  expect(sockets.takeAll()).toEqual([])
})

test('where nobody listens there is nobody to replace', () => {
  expect(meetPredecessor(tempDir('nobody'), silentLog)).toEqual({ ok: true, value: null })
  expect(meetPredecessor('/nowhere/at/all', silentLog)).toEqual({ ok: true, value: null })
})

describe('a process that holds the directory and has no socket yet', () => {
  const held = (): string => {
    const dataDir = tempDir('starting')
    const pid = process.ppid
    // Field 22 is when the process started; the name in front of it may hold anything.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '')
    writeFileSync(join(dataDir, 'lock'), `${pid} ${fields.split(' ')[19]}\n`)
    return dataDir
  }

  test('is waited for', async () => {
    const dataDir = held()
    const said: string[] = []
    const log = { ...silentLog, info: (_: object, message: string) => void said.push(message) }
    const waiting = awaitPredecessor(dataDir, log)
    expect(said).toEqual(['the process to replace is starting: waiting for it'])
    const child = spawn(process.execPath, [program, dataDir], { stdio: 'inherit' })
    onTestFinished(() => void child.kill('SIGKILL'))
    const met = await waiting
    expect(met.ok && met.value !== null).toBe(true)
    if (met.ok) met.value?.giveUp()
  })

  test('is nobody to replace, if that takes too long or it ends', async () => {
    expect(await awaitPredecessor(held(), silentLog, 0)).toEqual({ ok: true, value: null })
    const dataDir = held()
    const waiting = awaitPredecessor(dataDir, silentLog)
    rmSync(join(dataDir, 'lock'))
    expect(await waiting).toEqual({ ok: true, value: null })
  })
})
