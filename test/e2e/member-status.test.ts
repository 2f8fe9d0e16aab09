// A backend that fails under a node with its API: the status and the log say why, and since when.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { startHttpBackend } from '#test/support/backend.ts'
import { placeDatabase } from '#test/support/database-template.ts'
import { useDaemons } from '#test/support/daemon.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const apiKey = 'ab'.repeat(32)
const { start } = useDaemons({ GSLB_API_KEY: apiKey, GSLB_SECRET_KEY: 'cd'.repeat(32) })
const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

interface Status {
  readonly healthy: boolean
  readonly score: number
  readonly reason: string
  readonly since: number
  readonly lastCheck: number
}

const patienceMs = 180_000

test(
  'the status of a member that fails says why, since when, and when it was checked',
  async () => {
    const backend = await startHttpBackend()
    cleanups.push(() => backend.close())
    const home = tempDir('member-status')
    const settings = join(home, 'gslbd.yaml')
    mkdirSync(join(home, 'data'))
    await placeDatabase(join(home, 'data'))
    const dns = { listenAddr: '127.0.0.1', port: 0, threads: 1 }
    const more = { api: { enabled: true, port: 0 }, health: { enabled: true } }
    writeFileSync(settings, JSON.stringify({ dataDir: './data', dns, ...more }))
    const daemon = await start('serve', '--settings', settings)
    const call = async (method: string, path: string, body?: object): Promise<object> => {
      const answer = await fetch(`http://127.0.0.1:${daemon.apiPort}/api/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      expect(answer.status, `${method} ${path}`).toBeLessThan(300)
      return (await answer.json()) as object
    }
    const create = async (path: string, body: object): Promise<string> =>
      ((await call('POST', path, body)) as { readonly id: string }).id
    await waitUntil('the first look at the repository', () => call('GET', '/pools'))
    const beganMs = Date.now()
    const pool = await create('/pools', { name: 'web' })
    const check = { type: 'http', port: backend.port, intervalMs: 200, timeoutMs: 10_000 }
    await call('PUT', `/pools/${pool}/healthcheck`, check)
    const member = await create(`/pools/${pool}/members`, { ipAddress: '127.0.0.1', port: 80 })
    const until = async (what: string, fits: (status: Status) => boolean): Promise<Status> => {
      let seen: Status | undefined
      await waitUntil(what, async () => {
        seen = (await call('GET', `/members/${member}/status`)) as Status
        return fits(seen)
      })
      return seen!
    }
    const up = await until('a probe', ({ lastCheck }) => lastCheck > 0)
    expect(up).toMatchObject({ healthy: true, score: 1, reason: '' })
    backend.answer((_request, response) => response.writeHead(503).end())
    const down = await until('a failure', ({ healthy }) => !healthy)
    expect(down).toMatchObject({ score: 0, reason: 'HTTP 503, expected 200' })
    expect(down.since).toBeGreaterThan(beganMs)
    const later = await until('another probe', ({ lastCheck }) => lastCheck > down.lastCheck)
    expect(later).toMatchObject({ since: down.since, reason: down.reason })
    await backend.close()
    const gone = await until('another reason', ({ reason }) => reason === 'connection refused')
    expect(gone).toMatchObject({ healthy: false, since: down.since })
    const line = daemon.log().find(({ msg }) => msg === 'member is unhealthy')
    const since = new Date(down.since).toISOString()
    expect(line).toMatchObject({ pool: 'web', reason: 'HTTP 503, expected 200', since })
  },
  patienceMs,
)
