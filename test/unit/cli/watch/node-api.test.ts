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
