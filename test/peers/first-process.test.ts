// The program as the first process of a container: the kernel drops signals that nothing handles.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { waitUntil } from '#test/support/wait-until.ts'

const program = join(import.meta.dirname, '../../bin/gslbd')
const words = ['--pid', '--fork', '--kill-child=SIGKILL', program]

test('a command that waits, and handles no signal itself, ends at SIGTERM', async () => {
  // An API that never answers.
  const server = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const connected = once(server, 'connection')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const child = spawn('unshare', [...words, 'delivery', 'show', '--url', url], { stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = once(child, 'close')
  const [socket] = (await connected) as [{ destroy: () => void }]
  onTestFinished(() => socket.destroy())
  const children = `/proc/${child.pid}/task/${child.pid}/children`
  const first = await waitUntil('the first process', () => readFileSync(children, 'utf8').trim())
  process.kill(Number(first), 'SIGTERM')
  expect(await ended).toEqual([143, null])
})
