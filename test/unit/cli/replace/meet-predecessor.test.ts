// The successor's side, against a process that lets go of nothing.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { meetPredecessor } from '#cli/replace/meet-predecessor.ts'
import type { Log } from '#lib/log.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const silentLog: Log = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
}
const patience = { answerMs: 60_000, letGoMs: 10, endMs: 60_000 }
const program = fileURLToPath(import.meta.resolve('#test/support/stubborn-process.ts'))

test('a process that does not let go is killed, and its sockets are the next one’s', async () => {
  // Longer than the name of a socket may be.
  const dataDir = tempDir('x'.repeat(120))
  const child = spawn(process.execPath, [program, dataDir], { stdio: 'inherit' })
  onTestFinished(() => void child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  // Its socket is there a moment before it listens.
  const met = await waitUntil('a process to replace', () => {
    const answered = meetPredecessor(dataDir, silentLog, patience)
    if (!answered.ok) throw new Error(answered.error)
    return answered.value
  })
  const { sockets, variables } = met
  expect(variables).toEqual({ NOTIFY_SOCKET: '/run/notify' })
  expect(sockets.areAnswered).toBe(true)
  expect(await met.letGo()).toEqual({ ok: true, value: null })
  expect(await exited).toEqual([null, 'SIGKILL'])
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
