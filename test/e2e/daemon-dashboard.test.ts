// api.webuiPath as an operator sets it: beside the settings file, or wrongly.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { placeDatabase } from '#test/support/database-template.ts'
import { useDaemons } from '#test/support/daemon.ts'
import { makeTempDir, removeTempDir, tempDir } from '#test/support/temp-dir.ts'

const logs = makeTempDir('dashboard-logs')
afterAll(() => removeTempDir(logs))
const auditLog = join(logs, 'audit.json')
const { spawn, start, killAll } = useDaemons({
  GSLB_API_KEY: 'ab'.repeat(32),
  GSLB_AUDIT_LOG: auditLog,
})
let home: string
let settings: string
beforeEach(() => {
  home = tempDir('dashboard')
  settings = join(home, 'gslbd.yaml')
  writeSettings({ dataDir: './data', webuiPath: './ui' })
})
afterEach(killAll)

interface Places {
  readonly dataDir: string
  readonly webuiPath: string
  readonly allowedSigners?: string
}

function writeSettings({ dataDir, webuiPath, allowedSigners }: Places): void {
  const dns = { listenAddr: '127.0.0.1', port: 0, threads: 0 }
  const api = { enabled: true, port: 0, webuiPath }
  writeFileSync(settings, JSON.stringify({ dataDir, dns, api, gitops: { allowedSigners } }))
}

function makePage(directory: string): void {
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'index.html'), '<!doctype html><title>Mine</title>')
}

test('a directory beside the settings file is served without a credential', async () => {
  makePage(join(home, 'ui'))
  mkdirSync(join(home, 'data'))
  await placeDatabase(join(home, 'data'))
  const { apiPort } = await start('serve', '--settings', settings)
  const page = await fetch(`http://127.0.0.1:${apiPort}/ui`)
  expect([page.status, await page.text()]).toEqual([200, '<!doctype html><title>Mine</title>'])
  expect((await fetch(`http://127.0.0.1:${apiPort}/api/v1/pools`)).status).toBe(401)
})

test('a directory that is not there ends the start with what to do', async () => {
  const daemon = spawn('serve', '--settings', settings)
  expect(await daemon.ended).toEqual({ code: 1, signal: null })
  expect(daemon.output).toContain(
    `api.webuiPath: there is no directory ${join(home, 'ui')} that can be read; name the directory`,
  )
})

interface Held {
  readonly what: string
  readonly webuiPath: () => string
  readonly held: () => string
}
const held: readonly Held[] = [
  { what: 'the settings file', webuiPath: () => home, held: () => settings },
  { what: 'the audit log', webuiPath: () => logs, held: () => auditLog },
  {
    what: 'the allowed signers',
    webuiPath: () => join(home, 'ui'),
    held: () => join(home, 'ui/allowed_signers'),
  },
]
test.each(held)('a directory that holds $what ends the start', async ({ webuiPath, held }) => {
  makePage(webuiPath())
  const allowedSigners = join(home, 'ui/allowed_signers')
  writeSettings({ dataDir: tempDir('dashboard-data'), webuiPath: webuiPath(), allowedSigners })
  const daemon = spawn('serve', '--settings', settings)
  expect(await daemon.ended).toEqual({ code: 1, signal: null })
  expect(daemon.output).toContain(
    `api.webuiPath: ${webuiPath()} holds ${held()}, which everybody could then read; give`,
  )
})
