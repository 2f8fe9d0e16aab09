// `gslbd redirects diff`: what would change on an nginx, from a directory.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCli } from '#test/support/run-cli.ts'
import { tempDir } from '#test/support/temp-dir.ts'

function scene() {
  const home = tempDir('diff')
  const [config, configDir] = [join(home, 'config'), join(home, 'conf.d')]
  const redirects = join(config, 'tenants/default/redirects')
  mkdirSync(redirects, { recursive: true })
  mkdirSync(configDir)
  const head = (kind: string, name: string) =>
    `apiVersion: gslb/v1\nkind: ${kind}\nmetadata: { name: ${name} }\n`
  writeFileSync(join(config, 'gslb.yaml'), `${head('Settings', 'settings')}spec: {}\n`)
  const spec = 'spec: { sourceFqdn: old.example, targetUrl: "https://new.example/" }\n'
  writeFileSync(join(redirects, 'old.yaml'), head('Redirect', 'old') + spec)
  const settings = join(home, 'gslbd.yaml')
  const nginx = { enabled: true, configDir, reloadCommand: 'false' }
  writeFileSync(settings, JSON.stringify({ dataDir: join(home, 'data'), redirect: { nginx } }))
  return { config, settings, file: join(configDir, 'svc-redirects.conf') }
}

test('says what a node would write, and writes nothing', async () => {
  const { config, settings, file } = scene()
  const mark = `svc-redirect-${'0'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)}`
  const theirs = `# ${mark}\nserver {}\n`
  writeFileSync(file, theirs)
  const done = await runCli('redirects', 'diff', '--settings', settings, config)
  expect(done.out).toMatch(/^nginx: 1 redirects, 2 to change\n {2}\+ svc-redirect-[0-9a-f-]{36} /)
  expect(done.out).toContain('old.example -> https://new.example/ 301, with the path\n')
  expect(done.out).toContain(`  - ${mark}\n`)
  expect([done.exit, readFileSync(file, 'utf8')]).toEqual([1, theirs])
})

test('without a directory it needs a node that has activated something', async () => {
  const { settings } = scene()
  const done = await runCli('redirects', 'diff', '--settings', settings)
  expect([done.exit, done.err]).toEqual([1, expect.stringContaining('has no bundle yet')])
})

test.each([[['redirects']], [['redirects', 'diff']], [['redirects', 'push', '--settings', 'x']]])(
  '%j is a wrong call',
  async (args) => {
    expect((await runCli(...args)).exit).toBe(2)
  },
)
