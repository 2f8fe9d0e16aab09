// The thread of the redirect listener: swaps, its death, its end.
import type { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '#lib/clock.ts'
import { RedirectServer, spawnRedirectWorker } from '#server/redirect/redirect-server.ts'
import { bundleOf, smallModel } from '#test/support/bundle-models.ts'
import { rawHttp } from '#test/support/raw-http.ts'
import { redirect } from '#test/support/redirects.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
const settings = {
  listenAddr: '127.0.0.1',
  port: 0,
  idleTimeoutMs: 10_000,
  requestTimeoutMs: 10_000,
  maxConnections: 100,
  maxPerClient: 100,
  accessLog: undefined,
  https: { port: undefined, certificates: {} },
}
const rule = redirect(1, 'old.example', 'https://new.example')
const bundleWith = (...redirects: readonly (typeof rule)[]) =>
  bundleOf({ ...smallModel, redirects })

test('a table is answered from once adopted; hits outlive a swap', async () => {
  const server = new RedirectServer({ settings, clock: systemClock, log })
  onTestFinished(() => server.stop())
  const started = await server.start()
  if (!started.ok) throw new Error(started.error)
  const statuses = async () =>
    (
      await rawHttp(started.value.port, [
        'GET / HTTP/1.1\r\nHost: old.example\r\nConnection: close\r\n\r\n',
      ])
    ).statuses
  expect(await statuses()).toEqual([503])
  server.serve(bundleWith())
  await server.adopted()
  expect(await statuses()).toEqual([404])
  server.serve(bundleWith(rule))
  await server.adopted()
  expect(await statuses()).toEqual([301])
  server.serve(bundleWith(rule, { ...rule, uid: rule.uid.replace(/1$/, '2'), host: 'b.example.' }))
  await server.adopted()
  expect(await statuses()).toEqual([301])
  expect([...server.counted()]).toEqual([[rule.uid, 2]])
  expect(server.counts()).toMatchObject({ accepted: 4, byStatus: { '301': 2, '404': 1, '503': 1 } })
})

test('a port that is taken is told; nothing waits for a thread that does not run', async () => {
  const first = new RedirectServer({ settings, clock: systemClock, log })
  onTestFinished(() => first.stop())
  const started = await first.start()
  if (!started.ok) throw new Error(started.error)
  const { port } = started.value
  const second = new RedirectServer({ settings: { ...settings, port }, clock: systemClock, log })
  expect(await second.start()).toEqual({
    ok: false,
    error: expect.stringContaining('another program has it') as string,
  })
  second.serve(bundleWith(rule))
  await second.adopted()
  await second.stop()
})

test('a thread that dies is started again, on its port and with its redirects', async () => {
  const spawned: Worker[] = []
  const spawn: typeof spawnRedirectWorker = (data) => {
    spawned.push(spawnRedirectWorker(data))
    return spawned.at(-1)!
  }
  const server = new RedirectServer({ settings, spawn, clock: systemClock, log })
  onTestFinished(() => server.stop())
  const started = await server.start()
  if (!started.ok) throw new Error(started.error)
  server.serve(bundleWith(rule))
  await server.adopted()
  const ask = () =>
    rawHttp(started.value.port, [
      'GET / HTTP/1.1\r\nHost: old.example\r\nConnection: close\r\n\r\n',
    ])
  await ask()
  await spawned[0]!.terminate()
  await waitUntil('its successor', async () => (await ask()).statuses[0] === 301)
  expect([spawned.length, server.counted().get(rule.uid)]).toEqual([2, 2])
})
