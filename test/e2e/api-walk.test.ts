// Runs the API examples of docs/operations on a new node.
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeEach, expect, test } from 'vitest'
import { routes } from '#api/routes.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { runCli } from '#test/support/run-cli.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const script = join(root, 'docs/operations/api-walk.sh')
const apiKey = 'ab'.repeat(32)
const { start } = useDaemons({ GSLB_API_KEY: apiKey, GSLB_SECRET_KEY: 'cd'.repeat(32) })
/** Twenty seconds on a machine at rest. */
const patienceMs = 180_000

let home: string
let daemon: DaemonProcess
beforeEach(() => {
  home = tempDir('walk')
})

async function serve(more: object): Promise<void> {
  const settings = join(home, 'gslbd.yaml')
  // Nobody outside is asked.
  const dns = { listenAddr: '127.0.0.1', port: 0, threads: 1, resolvers: ['127.0.0.1:1'] }
  const api = { enabled: true, port: 0 }
  writeFileSync(settings, JSON.stringify({ dataDir: './data', dns, api, ...more }))
  daemon = await start('serve', '--settings', settings)
}

test(
  'the walk goes through every route, and each change is a verified commit',
  async () => {
    const vendorKey = join(home, 'vendor_key')
    const publicKey = (await runCli('license', 'keygen', '-o', vendorKey)).out.trim()
    const issued = await runCli('license', 'issue', '--key', vendorKey, '--tier', 'enterprise')
    await serve({ license: { publicKey } })
    const env = {
      PATH: process.env['PATH'],
      GSLB_URL: `http://127.0.0.1:${daemon.apiPort}`,
      GSLB_API_KEY: apiKey,
      GSLB_LICENSE_TOKEN: issued.out.trim(),
    }
    const { stdout } = await run('bash', [script], { env })

    const walked = stdout.trim().split('\n')
    const patternOf = (path: string) => new RegExp(`^/${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
    const missed = routes
      // /metrics is no part of the API, and for a program of its own.
      .filter(({ path }) => path.startsWith('/api/v1/'))
      .map(({ method, path }) => ({ method, path: path.replace('/api/v1/', '') }))
      .filter(({ method, path }) => {
        const isIt = (line: string): boolean => {
          const [, by, to = ''] = line.split(' ')
          return by === method && patternOf(path).test(to.replace(/\?.*/, ''))
        }
        return !walked.some(isIt)
      })
    expect(missed).toEqual([])
    expect(walked).toEqual(expect.arrayContaining(['200 POST /license', '101 GET /ws']))

    const data = join(home, 'data')
    const trust = `gpg.ssh.allowedSignersFile=${join(data, 'allowed_signers')}`
    const gitdir = join(data, 'config.git')
    const log = await run('git', ['-C', gitdir, '-c', trust, 'log', '--format=%G? %an', 'main'])
    const commits = log.stdout.trim().split('\n')
    expect(commits.length).toBeGreaterThan(10)
    expect(commits.filter((commit) => !commit.startsWith('G user:'))).toEqual([])
  },
  patienceMs,
)
