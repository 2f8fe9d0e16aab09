// A node that pushes a commit to BIND by itself, and says so over its API.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { useDaemons } from '#test/support/daemon.ts'
import { ask } from '#test/support/dns/client.ts'
import { freePort } from '#test/support/free-port.ts'
import { Site } from '#test/support/site.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'
import { startPrimary } from '#test/support/zone-push/primaries.ts'

const apiKey = 'ab'.repeat(32)
const { start } = useDaemons({ GSLB_API_KEY: apiKey, GSLB_SECRET_KEY: 'cd'.repeat(32) })
const zoneText =
  '$ORIGIN example.com.\n@ 60 SOA a b 1 60 60 60 60\n@ 60 NS ns1\nns1 60 A 127.0.0.1\n'

test('a commit is at the target within seconds', async () => {
  const key = { name: 'push.example.', secret: Buffer.alloc(32, 7).toString('base64') }
  const port = await freePort()
  const bind = await startPrimary('bind', zoneText, { zone: 'example.com.', port, key })
  const keyFile = join(tempDir('push-key'), 'key')
  const written = `key "push.example" { algorithm hmac-sha256; secret "${key.secret}"; };\n`
  writeFileSync(keyFile, written, { mode: 0o600 })
  const server = `127.0.0.1:${port}`
  const lab = { type: 'rfc2136', zone: 'example.com', server, keyFile }
  const site = await Site.make('zone-push', { zonePush: { targets: { lab } } })
  await site.push()
  const daemon = await start('serve', '--settings', site.settingsFile)
  try {
    await daemon.hasDatabase()
    const isThere = async (): Promise<boolean> =>
      (await ask({ host: '127.0.0.1', port }, 'www.example.com. A')).answer.length > 0
    await waitUntil('the push', isThere, { timeoutMs: 40_000 })
    const listed = async (): Promise<unknown> => {
      const headers = { authorization: `Bearer ${apiKey}` }
      const answer = await fetch(`http://127.0.0.1:${daemon.apiPort}/api/v1/zone-pushes`, {
        headers,
      })
      return await answer.json()
    }
    const synced = [{ name: 'lab', state: 'synced', foreign: 0, written: 1, error: '' }]
    await expect.poll(listed, { timeout: 10_000 }).toMatchObject(synced)
  } finally {
    await daemon.stop()
    await bind.stop()
    site.remove()
  }
}, 90_000)
