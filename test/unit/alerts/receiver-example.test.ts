// The receiver of docs/operations/alerts.md, run as it stands there.
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { webhook } from '#alerts/kinds/webhook.ts'
import type { AlertMessage } from '#alerts/send/message.ts'
import { networksOf } from '#routing/tables/network-list.ts'
import { newAlert } from '#test/support/alerts.ts'
import { freePort } from '#test/support/free-port.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

test('takes what we sign once, and nothing that others sign or that is old', async () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/operations/alerts.md'), 'utf8')
  const [, program = ''] = /```js\n([^]*?)```/.exec(page) ?? []
  const home = makeTempDir('receiver')
  const file = join(home, 'receiver.mjs')
  writeFileSync(file, program)
  const port = String(await freePort())
  const secret = 'a secret of the receiver'
  const child = spawn(process.execPath, [file], {
    env: { SECRET: secret, PORT: port },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  const way = { lookUp: async () => [], allowed: networksOf(['127.0.0.1']) }
  const send = (message: AlertMessage, key = secret) =>
    webhook.send(message, { url: `http://127.0.0.1:${port}/`, secret: key }, way)
  const steps = [{ event: 'opened', alert: newAlert('a1', { title: 'it is broken' }) }] as const
  const message = { id: 'm1', sentAtMs: Date.now(), isTest: false, steps }
  try {
    await waitUntil('the receiver', async () => (await send(message)).ok)
    expect(await send(message)).toEqual({ ok: true })
    const refused = { ok: false, fault: 'HTTP 401', isFinal: false }
    expect(await send({ ...message, id: 'm2' }, 'another secret')).toEqual(refused)
    expect(await send({ ...message, id: 'm3', sentAtMs: Date.now() - 600_000 })).toEqual(refused)
    expect(output).toBe('opened it is broken\n')
  } finally {
    child.kill('SIGKILL')
    removeTempDir(home)
  }
})
