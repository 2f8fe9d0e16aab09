// A fault of the program itself while it starts: no half of a node goes on.
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { useDaemons } from '#test/support/daemon.ts'
import { tempDir } from '#test/support/temp-dir.ts'

// The API makes its server when the responders answer already.
const fault = `
  import http from 'node:http'
  http.createServer = () => { throw new RangeError('planted') }`
const { spawn } = useDaemons({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(fault)}`,
})
const whole = useDaemons()

test('an exception during the start ends the process with 70; the next start works', async () => {
  const path = tempDir('fault')
  const dataDir = join(path, 'data')
  const file = join(path, 'gslbd.yaml')
  const dns = { listenAddr: '127.0.0.1', port: 0, threads: 1 }
  writeFileSync(file, JSON.stringify({ dataDir, dns, api: { enabled: true, port: 0 } }))
  const faulty = spawn('serve', '--settings', file)
  expect(await faulty.ended).toEqual({ code: 70, signal: null })
  expect(faulty.stderr).toMatch(/^gslbd: internal error: RangeError: planted/)
  expect(faulty.log()[0]).toMatchObject({ dataDir, msg: 'the data directory was made' })
  expect(existsSync(dataDir)).toBe(true)

  const daemon = await whole.start('serve', '--settings', file)
  expect(daemon.log()[0]).toMatchObject({ dataDir, msg: 'the data directory was opened' })
  expect(await daemon.health()).not.toBe('')
  expect(await daemon.stop()).toEqual({ code: 0, signal: null })
})
