// api.webuiPath as an operator sets it: beside the settings file, or wrongly.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { useDaemons } from '#test/support/daemon.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const { spawn, start, killAll } = useDaemons({ GSLB_API_KEY: 'ab'.repeat(32) })
let home: string
let settings: string
beforeEach(() => {
  home = tempDir('dashboard')
  settings = join(home, 'gslbd.yaml')
  const dns = { listenAddr: '127.0.0.1', port: 0, threads: 0 }
  const api = { enabled: true, port: 0, webuiPath: './ui' }
  writeFileSync(settings, JSON.stringify({ dataDir: './data', dns, api }))
})
afterEach(killAll)

test('a directory beside the settings file is served without a credential', async () => {
  mkdirSync(join(home, 'ui'))
  writeFileSync(join(home, 'ui/index.html'), '<!doctype html><title>Mine</title>')
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
