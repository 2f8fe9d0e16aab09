// Tests the messages of each kind of channel, and its handling of receivers' answers.
import { createHmac } from 'node:crypto'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { channelKind, channelKinds } from '#alerts/channel-kinds.ts'
import { createSender } from '#alerts/send-by-channel.ts'
import type { AlertMessage } from '#alerts/send/message.ts'
import type { Way } from '#alerts/send/post.ts'
import { sendLimits } from '#alerts/send/limits.ts'
import { seal } from '#lib/secret-box.ts'
import { networksOf } from '#routing/tables/network-list.ts'
import type { ChannelSettings, SendOutcome } from '#state/ports/alerts.ts'
import { newAlert, newChannel } from '#test/support/alerts.ts'
import { silentLog } from '#test/support/api-ports.ts'
import { addressCertificate, receiverCertificate } from '#test/support/receivers.ts'
import { startMailReceiver, startReceiver } from '#test/support/receivers.ts'
import type { HttpReceiver } from '#test/support/receivers.ts'

const local: Way = {
  lookUp: async () => ['127.0.0.1'],
  allowed: networksOf(['127.0.0.0/8']),
  ca: receiverCertificate,
}
const openedAtMs = Date.UTC(2026, 0, 15, 12)
const alert = newAlert('a1', {
  title: 'pool <web> has no member',
  openedAtMs,
  severity: 'critical',
})
const message: AlertMessage = {
  ...{ id: 'm1', sentAtMs: openedAtMs + 10_500, isTest: false },
  steps: [{ event: 'opened', alert }],
}
const ended: AlertMessage = {
  ...message,
  steps: [{ event: 'resolved', alert: { ...alert, resolvedAtMs: openedAtMs + 60_000 } }],
}
const both: AlertMessage = { ...message, steps: [...ended.steps, ...message.steps] }

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})
async function receiver(answer?: Parameters<typeof startReceiver>[0]): Promise<HttpReceiver> {
  const started = await startReceiver(answer)
  stops.push(started.stop)
  return started
}
async function mailServer(options?: Parameters<typeof startMailReceiver>[0]) {
  const started = await startMailReceiver(options)
  stops.push(started.stop)
  return started
}
const sendBy = (
  kind: string,
  settings: ChannelSettings,
  what = message,
  way: Partial<Way> = {},
): Promise<SendOutcome> => channelKind(kind)!.send(what, settings, { ...local, ...way })
const failure = (fault: string | RegExp, isFinal = false) =>
  ({ ok: false, fault: expect.stringMatching(fault) as unknown, isFinal }) as unknown

describe('a webhook', () => {
  test('is posted as JSON, with a signature over time and body', async () => {
    const { url, posts } = await receiver()
    const settings = { url: `${url}/in?token=x`, secret: 's'.repeat(16) }
    expect(await sendBy('webhook', settings, both)).toEqual({ ok: true })
    const [{ path, headers, body }] = posts as [(typeof posts)[0]]
    expect(path).toBe('/in?token=x')
    const timestamp = String(Math.floor(message.sentAtMs / 1_000))
    const digest = createHmac('sha256', settings.secret).update(`${timestamp}.${body}`)
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-gslb-delivery': 'm1',
      'x-gslb-timestamp': timestamp,
      'x-gslb-signature': `v1=${digest.digest('hex')}`,
    })
    const seconds = openedAtMs / 1_000
    const shown = {
      ...{ id: 'a1', condition: 'disk', severity: 'critical', subject: 'of a1' },
      ...{ title: alert.title, detail: 'a detail', tenantId: 'acme', node: null },
    }
    expect(JSON.parse(body)).toEqual({
      ...{ version: 1, id: 'm1', sentAt: Number(timestamp), test: false },
      summary: '2 alerts: 1 new, 1 resolved',
      alerts: [
        { ...shown, event: 'resolved', openedAt: seconds, resolvedAt: seconds + 60 },
        { ...shown, event: 'opened', openedAt: seconds, resolvedAt: null },
      ],
    })
  })

  test('names the receiver without the final dot of its address', async () => {
    const { url, posts } = await receiver()
    const { port } = new URL(url)
    const settings = { url: `http://hooks.example.:${port}/in`, secret: 's'.repeat(16) }
    const way = { lookUp: async () => ['127.0.0.1'] }
    expect(await sendBy('webhook', settings, message, way)).toEqual({ ok: true })
    expect(posts[0]!.headers['host']).toBe(`hooks.example:${port}`)
  })

  test.each<[string, number, string, unknown]>([
    ['204', 204, '', { ok: true }],
    ['a text', 200, 'text/plain', { ok: true }],
    ['a web page', 200, 'text/html; charset=utf-8', failure('web page')],
    ['a redirect', 302, '', failure('redirects are not followed')],
    ['400', 400, '', failure(/^HTTP 400$/, true)],
    ['401', 401, '', failure(/^HTTP 401$/)],
    ['429', 429, '', failure(/^HTTP 429$/)],
    ['500 with HTML', 500, 'text/html', failure(/^HTTP 500$/)],
  ])('takes %s as what it is', async (_case, status, type, expected) => {
    const elsewhere = await receiver()
    const { url, posts } = await receiver((_post, response) => {
      const headers = { location: elsewhere.url, ...(type === '' ? {} : { 'content-type': type }) }
      response.writeHead(status, headers).end(status === 204 ? '' : 'words of the receiver')
    })
    expect(await sendBy('webhook', { url, secret: 'x' })).toEqual(expected)
    expect([posts.length, elsewhere.posts.length]).toEqual([1, 0])
  })

  test.each<[string, Parameters<typeof startReceiver>[0]]>([
    ['does not answer', () => undefined],
    [
      'answers without an end',
      (_post, response) => {
        response.writeHead(200)
        const drip = setInterval(() => response.write('x'), 10)
        response.once('close', () => clearInterval(drip))
      },
    ],
  ])('gives a receiver up that %s', async (_case, answer) => {
    const { url } = await receiver(answer)
    const sent = await sendBy('webhook', { url, secret: 'x' }, message, { timeoutMs: 300 })
    expect(sent).toEqual(failure('no whole answer within 300 ms'))
  })

  test('reads no more of an answer than a little', async () => {
    let written = 0
    const { url } = await receiver((_post, response) => {
      response.on('error', () => undefined).writeHead(200)
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536))) written += 65_536
      }
      response.on('drain', more)
      more()
    })
    expect(await sendBy('webhook', { url, secret: 'x' })).toMatchObject({ ok: false })
    expect(written).toBeLessThan(sendLimits.answerBytesMax + 32 * 1024 * 1024)
  })

  test.each<[string, string, Partial<Way>, string]>([
    ['an internal address', 'http://127.0.0.1:9', { allowed: [] }, 'internal address'],
    ['the same in hexadecimal', 'https://0x7f000001/', { allowed: [] }, 'internal address'],
    ['the same in IPv6', 'https://[::ffff:127.0.0.1]/', { allowed: [] }, 'internal address'],
    ['the metadata of a cloud', 'http://169.254.169.254/', { allowed: [] }, 'internal address'],
    ['a name that leads inside', 'https://a.example/', { allowed: [] }, 'internal address'],
    [
      'plain HTTP to the world',
      'http://a.example/',
      { lookUp: async () => ['9.9.9.9'] },
      'http://',
    ],
    ['another scheme', 'file:///etc/passwd', {}, 'no http'],
    ['nothing there', 'http://127.0.0.1:1/', {}, 'ECONNREFUSED'],
    [
      'a name that nobody knows',
      'https://a.example/',
      { lookUp: () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' })) },
      'ENOTFOUND',
    ],
    [
      'a name server that does not answer',
      'https://a.example/',
      { lookUp: () => new Promise(() => undefined), timeoutMs: 100 },
      'not looked up within 100 ms',
    ],
  ])('does not reach %s', async (_case, url, way, fault) => {
    const sent = await sendBy('webhook', { url, secret: 'x' }, message, way)
    expect(sent).toEqual(failure(fault))
    expect(JSON.stringify(sent)).not.toContain('passwd')
  })
})

describe('a text channel', () => {
  test('is told in words, without mentions', async () => {
    const { url, posts } = await receiver((_post, response) => void response.end('ok'))
    expect(await sendBy('slack', { url })).toEqual({ ok: true })
    expect(JSON.parse(posts[0]!.body)).toMatchObject({
      text: 'CRITICAL: pool &lt;web&gt; has no member',
      attachments: [
        { color: '#b00020', text: expect.stringContaining('a detail\ncondition disk') as unknown },
      ],
    })
    await sendBy('slack', { url }, ended)
    expect(JSON.parse(posts[1]!.body)).toMatchObject({
      text: 'RESOLVED: pool &lt;web&gt; has no member',
      attachments: [{ color: '#2b8a3e' }],
    })
  })
})

describe('an incident service', () => {
  test('gets an event that triggers, and one of the same key that resolves', async () => {
    const { url, posts } = await receiver((_post, response) => void response.writeHead(202).end())
    const settings = { url, routingKey: 'R1' }
    for (const what of [message, ended]) {
      expect(await sendBy('pagerduty', settings, what)).toEqual({ ok: true })
    }
    expect(posts.map(({ body }) => JSON.parse(body) as unknown)).toMatchObject([
      {
        ...{ routing_key: 'R1', dedup_key: 'gslbd-a1', event_action: 'trigger' },
        payload: { summary: alert.title, severity: 'critical', class: 'disk', group: 'acme' },
      },
      { routing_key: 'R1', dedup_key: 'gslbd-a1', event_action: 'resolve' },
    ])
  })
})

describe('e-mail', () => {
  const mailTo = (port: number, more: ChannelSettings = {}): ChannelSettings => ({
    ...{ host: 'www.example.com', port, from: 'gslbd@example.com' },
    ...{ to: ['ops@example.org', 'on-call@example.org'], username: 'u', password: 'right' },
    ...more,
  })

  test.each([
    ['with STARTTLS', { hasStartTls: true }, {}],
    ['over TLS', { isTls: true }, { security: 'tls' }],
  ])('is sent %s, after a login', async (_case, server, settings) => {
    const { port, mails } = await mailServer(server)
    expect(await sendBy('email', mailTo(port, settings))).toEqual({ ok: true })
    const to = ['ops@example.org', 'on-call@example.org']
    expect(mails).toMatchObject([{ from: 'gslbd@example.com', to, user: 'u', isSecure: true }])
    const [{ text }] = mails as [(typeof mails)[0]]
    expect(text).toContain('Subject: [gslbd] CRITICAL: pool <web> has no member')
    expect(text).toContain('Message-ID: <m1@example.com>')
    expect(text).toContain('Auto-Submitted: auto-generated')
    expect(text).toContain('condition disk, tenant acme, since 2026-01-15T12:00:00.000Z')
  })

  test.each([
    ['with STARTTLS', { hasStartTls: true }, {}],
    ['over TLS', { isTls: true }, { security: 'tls' }],
  ])('is sent %s to a server that is named by its address', async (_case, server, settings) => {
    const { port, mails } = await mailServer({ ...server, certificateOf: 'addressed' })
    const to = mailTo(port, { ...settings, host: '127.0.0.1' })
    expect(await sendBy('email', to, message, { ca: addressCertificate })).toEqual({ ok: true })
    expect(mails).toMatchObject([{ isSecure: true }])
    const another = await mailServer({ ...server, certificateOf: 'named' })
    const refused = await sendBy('email', { ...to, port: another.port })
    expect(refused).toEqual(failure('a certificate that is not trusted'))
  })

  test.each([
    ['for a time', 451],
    ['for good', 550],
  ])('names the receivers that a server refuses %s while it takes others', async (_case, code) => {
    const { port, mails } = await mailServer({ refusesTo: { 'on-call@example.org': code } })
    expect(await sendBy('email', mailTo(port))).toEqual({
      ok: true,
      fault:
        `the server refused some receivers: settings.to[1] (${code}); ` +
        'the others have the mail',
    })
    expect(mails).toMatchObject([{ to: ['ops@example.org'] }])
  })

  test('is tried again where a server refuses all receivers', async () => {
    const refusesTo = { 'ops@example.org': 550, 'on-call@example.org': 451 }
    const { port } = await mailServer({ refusesTo })
    const sent = await sendBy('email', mailTo(port))
    expect(sent).toEqual(failure('EENVELOPE, the server said 451'))
  })

  test.each<[string, object, ChannelSettings, Partial<Way>, string, boolean?]>([
    ['without STARTTLS', { hasStartTls: false }, {}, {}, 'ETLS'],
    ['whose certificate is not trusted', {}, {}, { ca: '' }, 'a certificate that is not trusted'],
    ['that knows another password', {}, { password: 'wrong' }, {}, 'EAUTH, the server said 535'],
    ['that refuses the mail', { refuses: 554 }, {}, {}, 'EMESSAGE, the server said 554', true],
    ['that puts it off', { refuses: 451 }, {}, {}, 'EMESSAGE, the server said 451'],
    ['inside, which is not listed', {}, {}, { allowed: [] }, 'internal address'],
  ])('is not sent by a server %s', async (_case, server, settings, way, fault, isFinal) => {
    const { port, mails } = await mailServer(server)
    const sent = await sendBy('email', mailTo(port, settings), message, way)
    expect(sent).toEqual(failure(fault, isFinal))
    expect(JSON.stringify(sent)).not.toMatch(/right|wrong|secret words/)
    expect(mails).toEqual([])
  })

  test('goes without TLS to servers of the operator alone', async () => {
    const { port, mails } = await mailServer({ hasStartTls: false })
    const { username: _u, password: _p, ...plain } = mailTo(port, { security: 'none' })
    expect(await sendBy('email', plain)).toEqual({ ok: true })
    expect(mails).toMatchObject([{ isSecure: false, user: '' }])
  })

  test('gives a server up that says nothing, or very little at a time', async () => {
    const sockets = new Set<Socket>()
    const server = createServer((socket) => {
      sockets.add(socket)
      const drip = setInterval(() => socket.write('2'), 20)
      socket.on('error', () => undefined).once('close', () => clearInterval(drip))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    stops.push(() => new Promise((resolve) => server.close(() => resolve())))
    const { port } = server.address() as AddressInfo
    const sent = await sendBy('email', mailTo(port), message, { timeoutMs: 300 })
    expect(sent).toEqual(failure('the server has not taken the mail within 300 ms'))
    await expect.poll(() => [...sockets].every((socket) => socket.destroyed)).toBe(true)
  })
})

describe('the stored part of channels', () => {
  const key = Buffer.alloc(32, 7)
  const sender = (secretKey: Buffer | null) =>
    createSender({ secretKey, way: local, log: silentLog })

  test('is opened with the key under which it was sealed alone', async () => {
    const { url, posts } = await receiver()
    const secretCiphertext = seal(key, JSON.stringify({ url, secret: 'x'.repeat(16) }))
    const channel = newChannel('c1', { secretCiphertext })
    expect(await sender(key)(channel, message)).toEqual({ ok: true })
    expect(posts).toHaveLength(1)
    for (const other of [null, Buffer.alloc(32, 8)]) {
      expect(await sender(other)(channel, message)).toEqual(failure('GSLB_SECRET_KEY'))
    }
    const unknown = await sender(key)({ ...channel, kind: 'pigeon' }, message)
    expect(unknown).toEqual(failure('no channel of kind pigeon'))
  })

  test('shows no path of an address', () => {
    for (const { kind, target } of channelKinds) {
      const shown = target({ url: 'https://u.example/path/token?x=y', host: 'h', port: 25 })
      expect([kind, shown]).toEqual([kind, expect.not.stringContaining('token')])
    }
  })
})
