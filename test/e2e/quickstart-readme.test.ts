// README.md, "Edit by Git", word for word: a bare `gslbd serve`, a key, a first commit, a change.
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { useDaemons } from '#test/support/daemon.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const { start } = useDaemons()
const root = join(import.meta.dirname, '../..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const home = makeTempDir('readme')
afterAll(() => removeTempDir(home))

/** The blocks of commands of a section, in order. */
function commandsOf(heading: string): string[] {
  const [, rest = ''] = readme.split(`## ${heading}\n`)
  const [section = ''] = rest.split(/\n##+ /)
  const blocks = [...section.matchAll(/(?:^ {4}.*\n(?:\n(?= {4}))?)+/gm)].map(([block]) => block)
  return blocks.map((block) => block.replaceAll(/^ {4}/gm, ''))
}

/** The YAML files that the README shows, by the path in their first line. */
function filesShown(): Map<string, string> {
  const blocks = readme.matchAll(/^```yaml\n# (\S+)\n([^]*?)^```$/gm)
  return new Map([...blocks].map(([, path = '', text = '']) => [path, text]))
}

async function shell(cwd: string, script: string): Promise<void> {
  const env = { PATH: process.env['PATH'], HOME: home, GIT_CONFIG_NOSYSTEM: '1', EDITOR: 'true' }
  await promisify(execFile)('sh', ['-ec', script], { cwd, env })
}

test('the commands and files of README.md take a bare node to its first answers', async () => {
  const [setUp = '', change = '', first = ''] = commandsOf('Edit by Git')
  mkdirSync(join(home, 'bin'))
  symlinkSync(join(root, 'bin/gslbd'), join(home, 'bin/gslbd'))
  const settings = join(home, 'gslbd.yaml')
  const dns = { listenAddr: '127.0.0.1', port: 0, threads: 1 }
  const api = { enabled: true, port: 0 }
  writeFileSync(settings, JSON.stringify({ dataDir: './data', dns, api }))
  const daemon = await start('serve', '--settings', settings)
  const addresses = async () => (await daemon.answers('www.example.com. A')).join()

  await shell(home, setUp.replace(' -b main', ''))
  const checkout = join(home, 'config')
  const files = filesShown()
  expect([...files.keys()]).toContain('gslb.yaml')
  for (const [path, text] of files) {
    mkdirSync(dirname(join(checkout, path)), { recursive: true })
    writeFileSync(join(checkout, path), text)
  }
  await shell(checkout, `../bin/gslbd check .\n${first}`)
  await waitUntil('an answer', async () => (await addresses()).includes(' 60 IN A '))

  const service = join(checkout, 'tenants/default/services/www.yaml')
  writeFileSync(service, readFileSync(service, 'utf8').replace('ttl: 60', 'ttl: 7'))
  await shell(checkout, change.replaceAll('127.0.0.1:8080', `127.0.0.1:${daemon.apiPort}`))
  await waitUntil('the change', async () => (await addresses()).includes(' 7 IN A '))
  expect(await daemon.health()).toBe('ok')
  await daemon.stop()
})
