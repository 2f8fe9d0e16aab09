// HTTP challenges of ACME on the redirect listener: own proofs, and those of members.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '#lib/clock.ts'
import { challengeLimits } from '#server/redirect/challenges.ts'
import { RedirectCounters } from '#server/redirect/counters.ts'
import { RedirectListener } from '#server/redirect/listener.ts'
import type { ChallengeRule } from '#server/redirect/messages.ts'
import { bundleOf, smallModel } from '#test/support/bundle-models.ts'
import { rawHttp } from '#test/support/raw-http.ts'
import { redirect } from '#test/support/redirects.ts'

const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
const path = '/.well-known/acme-challenge/'
const own = { host: 'own.example', token: 'tok-1', answer: 'tok-1.thumb' }

async function listening(challenges: readonly ChallengeRule[] = []) {
  const redirects = [redirect(1, 'own.example', 'https://new.example')]
  const listener = new RedirectListener({
    settings: {
      ...{ listenAddr: '127.0.0.1', port: 0, idleTimeoutMs: 10_000, requestTimeoutMs: 10_000 },
      ...{ maxConnections: 100, maxPerClient: 100, accessLog: undefined, challenges },
      https: { port: undefined, certificates: {} },
    },
    counters: new RedirectCounters(new SharedArrayBuffer(RedirectCounters.bytes)),
    ...{ clock: systemClock, log },
  })
  const columns = bundleOf({ ...smallModel, redirects })
  listener.adopt({ number: 1, columns, hits: new SharedArrayBuffer(8) })
  const started = await listener.start()
  if (!started.ok) throw new Error(started.error)
  onTestFinished(() => listener.stop())
  listener.challenge([own])
  const ask = async (host: string, target: string) => {
    const asked = `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
    const { text: said, statuses } = await rawHttp(started.value.port, [asked])
    return { status: statuses[0], body: said.split('\r\n\r\n')[1] ?? '' }
  }
  return { ask, listener }
}

/** A member: what it is asked, and where it is. */
async function member(answers: Readonly<Record<string, string>>) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.headers.host} ${request.url}`)
    const found = answers[request.url ?? '']
    void text(request).then(() => {
      response.statusCode = found === undefined ? 404 : 200
      response.end(found ?? 'none')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { asked, place: `127.0.0.1:${(server.address() as AddressInfo).port}` }
}

test.each<[string, string, string, number, string]>([
  ['its token', 'own.example', `${path}tok-1`, 200, 'tok-1.thumb'],
  ['its token, at a port', 'OWN.example:80', `${path}tok-1`, 200, 'tok-1.thumb'],
  ['another token', 'own.example', `${path}tok-2`, 301, ''],
  ['the token of another host', 'other.example', `${path}tok-1`, 404, ''],
  ['a path that is none', 'own.example', `${path}../tok-1`, 301, ''],
  ['no token', 'own.example', path, 301, ''],
])('%s is asked for, and own proofs are answered', async (_what, host, target, status, body) => {
  const { ask } = await listening()
  expect(await ask(host, target)).toEqual({ status, body })
})

test('a proof that is withdrawn is answered no more', async () => {
  const { ask, listener } = await listening()
  listener.challenge([])
  expect((await ask('own.example', `${path}tok-1`)).status).toBe(301)
})

test('the first member that has the token answers for its host', async () => {
  const [empty, full] = [await member({}), await member({ [`${path}abc`]: 'abc.thumb' })]
  const away = '127.0.0.1:1'
  const members = [away, empty.place, full.place]
  const { ask } = await listening([{ hosts: ['Member.example'], members }])
  expect(await ask('member.example', `${path}abc`)).toEqual({ status: 200, body: 'abc.thumb' })
  expect(empty.asked).toEqual([`member.example ${path}abc`])
  expect(full.asked).toEqual([`member.example ${path}abc`])
  expect((await ask('member.example', `${path}def`)).status).toBe(404)
  // Nothing else of a host reaches its members.
  await ask('member.example', '/admin')
  await ask('member.example', `${path}a/b`)
  await ask('other.example', `${path}abc`)
  expect(full.asked).toHaveLength(2)
})

test('a member that hangs holds up none of the others', async () => {
  const hangs = createServer(() => undefined)
  await new Promise<void>((resolve) => hangs.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    hangs.close()
    hangs.closeAllConnections()
  })
  const full = await member({ [`${path}abc`]: 'abc.thumb' })
  const members = [`127.0.0.1:${(hangs.address() as AddressInfo).port}`, full.place]
  const { ask } = await listening([{ hosts: ['member.example'], members }])
  const beganMs = performance.now()
  expect(await ask('member.example', `${path}abc`)).toEqual({ status: 200, body: 'abc.thumb' })
  expect(performance.now() - beganMs).toBeLessThan(challengeLimits.patienceMs / 2)
})

test('a member that says too much is not passed on', async () => {
  const long = 'x'.repeat(challengeLimits.answerBytesMax + 1)
  const { place } = await member({ [`${path}abc`]: long })
  const { ask } = await listening([{ hosts: ['member.example'], members: [place] }])
  expect(await ask('member.example', `${path}abc`)).toEqual({ status: 404, body: '' })
})
