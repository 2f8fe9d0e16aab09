// Where commands send the key of a node, and where they do not.
import { describe, expect, test } from 'vitest'
import { openNodeApi } from '#cli/watch/node-api.ts'
import { startStandIn } from '#test/support/http-stand-in.ts'
import { runCliWith } from '#test/support/run-cli.ts'

const key = { GSLB_API_KEY: 'k'.repeat(32) }
const meant = { ...key, GSLB_API_INSECURE: 'true' }

describe('the key of a node', () => {
  test.each<[url: string, env: Readonly<Record<string, string>>, isOpened: boolean]>([
    ['https://gslb.example.com', key, true],
    ['http://localhost:8080', key, true],
    ['http://127.0.0.7:8080', key, true],
    ['http://[::1]:8080', key, true],
    ['http://gslb.example.com', {}, true],
    ['http://gslb.example.com', meant, true],
    ['http://gslb.example.com', key, false],
    ['http://192.0.2.1:8080', key, false],
    ['http://[2001:db8::1]:8080', key, false],
    ['http://127.0.0.1.example.com', key, false],
    ['http://gslb.example.com', { ...key, GSLB_API_INSECURE: 'false' }, false],
  ])('for %s with %j is sent or refused', (url, env, isOpened) => {
    const opened = openNodeApi(url, env)
    expect(opened.ok).toBe(isOpened)
    if (!opened.ok) expect(opened.error).toContain(`is not sent to ${new URL(url).host} over plain`)
  })

  test.each([
    ['status'],
    ['top'],
    ['sync'],
    ['delivery'],
    ['delivery', 'promote'],
    ['why', 'www.example.com', '--at', '2026-01-01T00:00:00Z'],
    ['lint', '--unused', '.'],
  ])('is not sent by gslbd %s %s', async (...words) => {
    const run = await runCliWith(key, ...words, '--url', 'http://192.0.2.1')
    expect(run.exit).toBe(2)
    expect(run.err).toContain('GSLB_API_KEY is not sent to 192.0.2.1 over plain HTTP')
    expect(run.err).toContain('GSLB_API_INSECURE=true')
  })

  test('is not sent by gslbd plan --base', async () => {
    const run = await runCliWith(key, 'plan', '--base', 'http://192.0.2.1', '--head', '.')
    expect(run.exit).toBe(2)
    expect(run.err).toContain('GSLB_API_KEY is not sent to 192.0.2.1 over plain HTTP')
  })
})

describe('the address of a node', () => {
  test.each([[''], ['/'], ['/api/v1'], ['/api/v1/'], ['/behind'], ['/behind/api/v1']])(
    'may end in "%s"',
    async (end) => {
      const { url, asked } = await startStandIn(() => ({ status: 200, body: {} }))
      const opened = openNodeApi(url + end, {})
      if (!opened.ok) throw new Error(opened.error)
      await opened.value.json('/api/v1/unused?days=30')
      const before = end.startsWith('/behind') ? '/behind' : ''
      expect(asked.map(({ path }) => path)).toEqual([`${before}/api/v1/unused`])
    },
  )
})

describe('gslbd top', () => {
  const token = { GSLB_METRICS_TOKEN: 't'.repeat(32) }
  const times = ['--interval', '0.1', '--times', '1']

  test.each([
    [token, 't'.repeat(32)],
    [{ ...key, ...token }, 't'.repeat(32)],
    [{ ...key, GSLB_METRICS_TOKEN: '' }, key.GSLB_API_KEY],
  ])('with %j shows %s, which is enough', async (env, shown) => {
    const { url, asked } = await startStandIn(() => ({ status: 200, body: {} }))
    const run = await runCliWith(env, 'top', '--url', url, ...times)
    expect(run).toMatchObject({ exit: 0, err: '' })
    expect(new Set(asked.map(({ headers }) => headers['authorization']))).toEqual(
      new Set([`Bearer ${shown}`]),
    )
  })

  test.each([
    [401, token, 'set GSLB_METRICS_TOKEN as that node has it, or unset it and set GSLB_API_KEY'],
    [401, {}, 'to a key with the permission cluster:status'],
    [403, token, 'the key in GSLB_METRICS_TOKEN may not do this'],
    [403, key, 'the key in GSLB_API_KEY may not do this'],
  ])('where the node answers %i to %j: %s', async (status, env, part) => {
    const { url } = await startStandIn(() => ({ status, body: { error: 'refused' } }))
    const run = await runCliWith(env, 'top', '--url', url, ...times)
    expect([run.exit, run.err]).toEqual([1, expect.stringContaining(part)])
  })

  test('names the token that it does not send over plain HTTP', async () => {
    const run = await runCliWith(token, 'top', '--url', 'http://192.0.2.1')
    expect([run.exit, run.err.includes('GSLB_API_KEY')]).toEqual([2, false])
    expect(run.err).toContain('GSLB_METRICS_TOKEN is not sent to 192.0.2.1')
  })
})

describe('gslbd delivery', () => {
  test.each([
    [401, {}, 'set GSLB_API_KEY to the key of that node'],
    [404, { error: 'no such delivery' }, '404 no such delivery'],
    [409, { error: 'nothing is on its way' }, '409 nothing is on its way'],
  ])('says what a node that answers %i has said', async (status, body, part) => {
    const { url, asked } = await startStandIn(() => ({ status, body }))
    const run = await runCliWith(key, 'delivery', 'pause', '--url', url)
    expect(run).toMatchObject({ exit: 1, out: '' })
    expect(run.err).toContain(part)
    expect(asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /api/v1/deliveries/main/pause',
    ])
  })

  test('is a wrong call with another word', async () => {
    const run = await runCliWith(key, 'delivery', 'stop')
    expect(run.exit).toBe(2)
    expect(run.err).toContain('write one of: show, pause, resume, promote, abort')
  })
})
