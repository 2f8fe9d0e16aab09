// A node looks at its branch for callers with the permission, and for webhooks that are signed.
import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { systemKey } from '#access/auth/policy.ts'
import { apiLimits } from '#http/limits.ts'
import { createApp } from '#api/server/app.ts'
import { devMode, noSessions, portsOf } from '#test/support/api-ports.ts'

const rootKey = 'k'.repeat(32)
const secret = 'w'.repeat(32)
const url = '/api/v1/sync'
const body = '{"ref":"refs/heads/main"}'
const hmacBy = (by: string, signed = body): string =>
  createHmac('sha256', by).update(signed).digest('hex')

type Headers = Readonly<Record<string, string>>
const json = { 'content-type': 'application/json' }

function scene(webhookSecret: string | null = secret) {
  let looks = 0
  const auth = { ...devMode, systemKey: systemKey(rootKey), webhookSecret }
  const app = createApp(portsOf({ auth, sessions: noSessions, syncNow: () => ++looks }), [])
  const post = async (headers: Headers, payload: string | Buffer = body, path = url) => {
    const { statusCode } = await app.inject({ method: 'POST', url: path, headers, payload })
    return [statusCode, looks]
  }
  return { app, post }
}

describe('a webhook is believed', () => {
  test.each<[forge: string, headers: Headers]>([
    ['GitHub', { ...json, 'x-hub-signature-256': `sha256=${hmacBy(secret)}` }],
    ['GitHub with a form', { 'x-hub-signature-256': `sha256=${hmacBy(secret)}` }],
    ['Bitbucket', { ...json, 'x-hub-signature': `sha256=${hmacBy(secret)}` }],
    ['Gitea', { ...json, 'x-gitea-signature': hmacBy(secret) }],
    ['GitLab', { ...json, 'x-gitlab-token': secret }],
  ])('with %s', async (_forge, headers) => {
    expect(await scene().post(headers)).toEqual([202, 1])
  })

  test('whatever its body, even with bytes that are no text', async () => {
    const bytes = Buffer.from([0xff, 0x00, 0x7b])
    const sum = createHmac('sha256', secret).update(bytes).digest('hex')
    const headers = { ...json, 'x-hub-signature-256': `sha256=${sum}` }
    expect(await scene().post(headers, bytes)).toEqual([202, 1])
  })

  test('again, as often as somebody replays it: it is a look, and no more', async () => {
    const { post } = scene()
    const headers = { 'x-hub-signature-256': `sha256=${hmacBy(secret)}` }
    expect(await post(headers)).toEqual([202, 1])
    expect(await post(headers)).toEqual([202, 2])
  })
})

describe('a webhook is refused, and nobody looks', () => {
  const signed = { 'x-hub-signature-256': `sha256=${hmacBy(secret)}` }
  test.each<[how: string, headers: Headers, payload?: string]>([
    ['without a signature', json],
    ['by another secret', { 'x-hub-signature-256': `sha256=${hmacBy('v'.repeat(32))}` }],
    ['with another body', signed, `${body} `],
    ['without its body', signed, ''],
    ['with an empty signature', { 'x-hub-signature-256': '' }],
    ['by SHA-1', { 'x-hub-signature': 'sha1=0000' }],
    ['without the name of the hash', { 'x-hub-signature-256': hmacBy(secret) }],
    ['with another token', { 'x-gitlab-token': 'v'.repeat(32) }],
    ['with two proofs, of which the first is wrong', { ...signed, 'x-hub-signature-256': 'x' }],
    ['with a key that nobody has', { ...signed, authorization: 'Bearer nobody-has-this' }],
  ])('%s', async (_how, headers, payload) => {
    expect(await scene().post(headers, payload)).toEqual([401, 0])
  })

  test('by a node that has no secret, whatever it shows', async () => {
    const { post } = scene(null)
    expect(await post(signed)).toEqual([401, 0])
    expect(await post({ 'x-gitlab-token': '' })).toEqual([401, 0])
    expect(await post({ 'x-gitlab-token': 'null' })).toEqual([401, 0])
  })

  test('with more than a megabyte', async () => {
    const large = 'x'.repeat(apiLimits.webhookBytesMax + 1)
    const headers = { 'x-hub-signature-256': `sha256=${hmacBy(secret, large)}` }
    expect(await scene().post(headers, large)).toEqual([413, 0])
  })

  test.each(['/api/v1/pools', '/api/v1/cluster/nodes/n1/restart'])('at %s', async (path) => {
    expect(await scene().post({ ...json, ...signed }, body, path)).toEqual([401, 0])
  })
})

test('a key of a system administrator needs no signature, and no body', async () => {
  const { app, post } = scene()
  const headers = { authorization: `Bearer ${rootKey}` }
  const answer = await app.inject({ method: 'POST', url, headers })
  expect([answer.statusCode, answer.json()]).toEqual([202, { askedAtMs: 1 }])
  expect(await post({ ...headers, ...json }, 'not JSON')).toEqual([202, 2])
})
