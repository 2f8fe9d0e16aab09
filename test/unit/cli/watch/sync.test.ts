// `gslbd sync` asks a node to look, waits until it has, and says what it found.
import { describe, expect, test } from 'vitest'
import { startStandIn } from '#test/support/http-stand-in.ts'
import { runCliWith } from '#test/support/run-cli.ts'

const [good, bad] = ['a'.repeat(40), 'b'.repeat(40)]
const synced = { sync: 'synced', head: good, accepted: good, reason: null, diagnostics: [] }
const held = {
  ...{ sync: 'held', head: bad, accepted: good },
  reason: { code: 'CompileFailed', message: 'The configuration has 1 error.\u001b[2J' },
  diagnostics: [
    { severity: 'warning', code: 'x', message: 'not shown', file: 'f', line: 1, column: 1 },
    { severity: 'error', code: 'pool-unknown', message: 'no pool', file: 'f', line: 4, column: 9 },
  ],
}

/** @param looks what the status says, in order; the last for good */
function node(...looks: readonly object[]) {
  const left = [...looks]
  return startStandIn(({ path }) => {
    if (path === '/api/v1/sync') return { status: 202, body: { askedAtMs: 1_000 } }
    return { status: 200, body: left.length > 1 ? left.shift() : left[0] }
  })
}
const sync = (url: string, ...args: string[]) =>
  runCliWith({ GSLB_API_KEY: 'k'.repeat(32) }, 'sync', '--url', url, ...args)

describe('gslbd sync', () => {
  test('waits for the look that began after it asked, and exits 0', async () => {
    const { url, asked } = await node(
      { ...synced, lookedFromMs: null },
      { ...held, lookedFromMs: 999 },
      { ...synced, sync: 'pending', lookedFromMs: 1_000 },
      { ...synced, lookedFromMs: 1_000 },
    )
    const run = await sync(url)
    expect(run).toEqual({
      exit: 0,
      out: `head      ${good}\naccepted  ${good}\nverdict   synced\n`,
      err: '',
    })
    expect(asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /api/v1/sync',
      ...Array.from({ length: 4 }, () => 'GET /api/v1/gitops/status'),
    ])
    expect(asked[0]?.headers['authorization']).toBe(`Bearer ${'k'.repeat(32)}`)
  })

  test('a held commit is exit code 1, with the reason and the errors in their places', async () => {
    const { url } = await node({ ...held, lookedFromMs: 2_000 })
    const run = await sync(url)
    expect(run.exit).toBe(1)
    expect(run.out).toBe(
      `head      ${bad}\naccepted  ${good}\nverdict   held\n` +
        'CompileFailed: The configuration has 1 error.?[2J\nf:4:9: pool-unknown: no pool\n',
    )
  })

  test('names the commit that an accepted repair goes back to', async () => {
    const note = 'Commit aaaaaaaaaa goes back to commit cccccccccc.\u001b[2J'
    const { url } = await node({ ...synced, note, lookedFromMs: 1_000 })
    const run = await sync(url)
    expect(run.exit).toBe(0)
    expect(run.out).toContain(
      'verdict   synced\nCommit aaaaaaaaaa goes back to commit cccccccccc.?[2J\n',
    )
  })

  test('a node that does not look in time is exit code 1', async () => {
    const { url } = await node({ ...synced, lookedFromMs: 999 })
    const run = await sync(url, '--wait', '1')
    expect(run).toMatchObject({ exit: 1, out: '' })
    expect(run.err).toContain('has not looked within 1 s')
  })

  test('a key that may not is told so', async () => {
    const { url } = await startStandIn(() => ({ status: 403, body: { error: 'no' } }))
    const run = await sync(url)
    expect(run).toMatchObject({ exit: 1, out: '' })
    expect(run.err).toContain('the key in GSLB_API_KEY may not do this')
  })

  test('says so when the server is no node', async () => {
    const { url } = await startStandIn(() => ({ status: 200, body: {} }))
    expect((await sync(url)).err).toContain('does not say when it was asked')
  })

  test.each(['0', '-1', '1.5', '3601', 'x'])('--wait %s is a wrong call', async (wait) => {
    expect((await sync('http://127.0.0.1:1', `--wait=${wait}`)).exit).toBe(2)
  })
})
