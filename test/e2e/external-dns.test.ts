// external-dns' protocol over HTTP to a running node: what it writes is answered in DNS.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { expectToFit, mediaType } from '#test/support/external-dns-document.ts'
import { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const { start } = useDaemons()
let site: Site
let daemon: DaemonProcess
let port = 0

beforeAll(async () => {
  site = await Site.make('external-dns', {
    externalDns: { enabled: true, port: 0, tenant: 'default' },
  })
  site.trustNode()
  await site.push()
  daemon = await start('serve', '--settings', site.settingsFile)
  await waitUntil('the first commit', async () => (await daemon.gitops()).active !== null)
  port = Number(daemon.logged('external-dns is listened to')?.['port'])
})
afterAll(() => site.remove())

async function call(method: string, path: string, body?: object) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { accept: mediaType, ...(body === undefined ? {} : { 'content-type': mediaType }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const { status, headers } = response
  const answer = { status, type: headers.get('content-type'), text: await response.text() }
  const heard = { statusCode: status, payload: answer.text, headers: Object.fromEntries(headers) }
  if (path !== '/healthz') expectToFit(method, path, body, heard)
  return answer
}

test('external-dns negotiates, and its writes are answered when the 204 comes', async () => {
  expect(await call('GET', '/healthz')).toMatchObject({ status: 200 })
  const negotiated = await call('GET', '/')
  expect(negotiated).toMatchObject({ status: 200, type: mediaType })
  expect(JSON.parse(negotiated.text)).toMatchObject({ include: ['example.com'] })
  const endpoint = { dnsName: 'ext.example.com', recordType: 'A', targets: ['192.0.2.77'] }
  const member = { ...endpoint, dnsName: 'shared.example.com', setIdentifier: 'a', recordTTL: 9 }
  const { text } = await call('POST', '/adjustendpoints', [endpoint, member])
  const done = await call('POST', '/records', { create: JSON.parse(text) as object[] })
  expect(done).toMatchObject({ status: 204, text: '' })
  expect(await daemon.answers('ext.example.com. A')).toEqual([
    'ext.example.com. 300 IN A 192.0.2.77',
  ])
  expect(await daemon.answers('shared.example.com. A')).toEqual([
    'shared.example.com. 9 IN A 192.0.2.77',
  ])
  const records = JSON.parse((await call('GET', '/records')).text) as (typeof endpoint)[]
  expect(records).toContainEqual(expect.objectContaining(endpoint))
})

test('a node that stops ends the listener, too', async () => {
  expect(await daemon.stop()).toMatchObject({ code: 0 })
  await expect(call('GET', '/healthz')).rejects.toThrow()
})
