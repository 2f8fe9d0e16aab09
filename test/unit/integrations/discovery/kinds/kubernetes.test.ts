// kubernetes: EndpointSlices as the API of a cluster lists them, in pages, and tells of changes.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { kindNamed } from '#integrations/discovery/kinds.ts'
import { asked, askOf, startApi, targetLines } from '#test/support/discovery-kinds.ts'
import { endpoint, slice, slicePages } from '#test/support/endpoint-slices.ts'
import { tempDir } from '#test/support/temp-dir.ts'

function kubeconfig(server: string): string {
  const path = join(tempDir('kubeconfig'), 'config')
  const config = {
    'current-context': 'a',
    contexts: [{ name: 'a', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server } }],
    users: [{ name: 'u', user: { token: 'of the account' } }],
  }
  writeFileSync(path, JSON.stringify(config))
  return path
}

test('ready endpoints of a Service are found in all its slices, with their zones', async () => {
  const api = await startApi(({ url }) => {
    const more = new URL(url, 'http://x').searchParams.get('continue') ?? ''
    return { json: slicePages[more] }
  })
  const ask = askOf('kubernetes', { kubeconfig: kubeconfig(api.url) })
  expect(targetLines(await ask(asked('web/shop')), 'zone', 'app', 'node')).toEqual([
    '192.0.2.1:8080 zone=eu-1a app=shop node=n1',
    '192.0.2.3:8080 zone=eu-1b app=shop node=n1',
    '2001:db8::1:8080 zone=eu-1a app=shop node=n1',
  ])
  expect(api.requests[0]).toMatchObject({
    url:
      '/apis/discovery.k8s.io/v1/namespaces/web/endpointslices' +
      '?labelSelector=kubernetes.io%2Fservice-name%3Dshop&limit=500',
    headers: { authorization: 'Bearer of the account' },
  })
  api.stop()
})

test('what is no list of slices is a fault, and so is a list without an end', async () => {
  const none = await startApi(() => ({ json: { kind: 'Status' } }))
  const endless = await startApi(() => ({ json: { items: [], metadata: { continue: 'x' } } }))
  const faults: string[] = []
  for (const { url, stop } of [none, endless]) {
    const ask = askOf('kubernetes', { kubeconfig: kubeconfig(url) })
    faults.push(...targetLines(await ask(asked('web/shop'))))
    stop()
  }
  expect(faults).toEqual([
    expect.stringContaining('it is no list of EndpointSlices'),
    expect.stringContaining('it has more than 20 pages of EndpointSlices'),
  ])
})

test('without a kubeconfig, and in no pod, it says why', async () => {
  const lines = targetLines(await askOf('kubernetes', {})(asked('web/shop')))
  expect(lines[0]).toContain('KUBERNETES_SERVICE_HOST is not set')
})

describe('a watch', () => {
  const event = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`
  const changed = event('MODIFIED', slice('IPv4', [endpoint('192.0.2.9', { ready: true })]))
  const bookmark = (resourceVersion: unknown) =>
    event('BOOKMARK', { kind: 'EndpointSlice', metadata: { resourceVersion } })
  /** As a cluster writes it, whose store was compacted. */
  const status = (code: number, reason: string, message: string) => ({
    ...{ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' },
    ...{ message, reason, code },
  })
  const expired = status(410, 'Expired', 'too old resource version: 10 (2000)')

  /** A cluster whose list is at version 30, and what a watch is told there. */
  async function watched(said: ReturnType<Parameters<typeof startApi>[0]>, cursor = '10') {
    const items = [slice('IPv4', [endpoint('192.0.2.7', { ready: true })])]
    const listed = { json: { metadata: { resourceVersion: '30' }, items } }
    const api = await startApi(({ url }) => (url.includes('watch=1') ? said : listed))
    const parts = { nowMs: () => 1_000 }
    const source = { kubeconfig: kubeconfig(api.url), timeoutMs: 20_000 }
    const answer = await askOf('kubernetes', source, parts)(asked('web/shop', cursor))
    api.stop()
    const { targets = null, cursor: next = '' } = answer.ok ? answer.value : {}
    const found = targets === null ? 'as before' : targetLines(answer).join(' ')
    return { ...{ answer, next, found }, urls: api.requests.map(({ url }) => url) }
  }

  type Said = Parameters<typeof watched>[0]
  const rows: readonly (readonly [what: string, said: Said, found: string, next: string])[] = [
    ['that ends without news', { text: '' }, 'as before', '10'],
    [
      'that ends after bookmarks',
      { text: bookmark('11') + bookmark('12') + bookmark(13) },
      'as before',
      '12',
    ],
    ['that ends within a line', { text: bookmark('12') + changed.slice(0, 99) }, 'as before', '12'],
    ['with a change', { text: changed, then: 'silence' }, '192.0.2.7:8080', '30'],
    [
      'with many changes',
      { text: bookmark('12') + changed.repeat(99), then: 'silence' },
      '192.0.2.7:8080',
      '30',
    ],
    ['whose version is too old', { text: event('ERROR', expired) }, '192.0.2.7:8080', '30'],
    ['that is refused as too old', { status: 410, json: expired }, '192.0.2.7:8080', '30'],
    [
      'that the account may not ask for',
      { status: 403, json: status(403, 'Forbidden', 'cannot watch') },
      '192.0.2.7:8080',
      'refused until 601000 403',
    ],
    ['that is not known', { status: 405, text: '' }, '192.0.2.7:8080', 'refused until 601000 405'],
  ]
  test.each(rows)('%s: the list is asked for where there is news', async (_, said, found, next) => {
    const seen = await watched(said)
    expect(seen).toMatchObject({ answer: { ok: true }, found, next })
    expect(seen.urls).toHaveLength(found === 'as before' ? 1 : 2)
    expect(seen.urls[0]).toMatch(
      /shop&watch=1&allowWatchBookmarks=true&resourceVersion=10&timeoutSeconds=50$/,
    )
  })

  const faults: readonly (readonly [what: string, said: Said, fault: RegExp])[] = [
    ['that breaks off', { text: bookmark('12'), then: 'cut' }, /cannot be asked: ECONNRESET$/],
    [
      'with an error',
      { text: event('ERROR', status(500, 'InternalError', 'etcd is away')) },
      /its watch ended with an error: etcd is away$/,
    ],
    ['that is a list', { text: '{"items":[]}\n' }, /its watch told of something that is no event$/],
    ['of web pages', { text: '<html>\n' }, /its watch told of something that is no event$/],
    [
      'with a line that does not end',
      { text: `{"type":"ADDED","a":"${'x'.repeat(8_388_608)}`, then: 'silence' },
      /the answer has more than 8388608 octets$/,
    ],
    ['without credentials', { status: 401, text: '' }, /answered 401 .*look at the credentials/],
    [
      'of a server in need',
      { status: 503, json: status(503, '', 'later') },
      /answered 503 .*later$/,
    ],
  ]
  test.each(faults)('%s is a fault', async (_, said, fault) => {
    const { answer, urls } = await watched(said)
    expect(answer.ok ? '' : answer.error).toMatch(fault)
    expect(urls).toHaveLength(1)
  })

  test('that was refused is asked for again when ten minutes are over', async () => {
    const cursors = ['', 'refused until 1001 403', 'refused until 999 403']
    const all = await Promise.all(cursors.map((cursor) => watched({ text: '' }, cursor)))
    expect(all.map(({ next }) => next)).toEqual(['30', 'refused until 1001 403', '30'])
    const notes = all.map(({ answer }) => (answer.ok ? answer.value.note : ''))
    const grant = 'grant it the verb watch on endpointslices of the API group discovery.k8s.io'
    expect(notes).toEqual([undefined, expect.stringContaining(grant), undefined])
    expect(notes[1]).toContain('namespace web')
    expect(all.flatMap(({ urls }) => urls).filter((url) => url.includes('watch'))).toEqual([])
    const { waits } = kindNamed('kubernetes')!
    expect([...cursors, '0', '10'].map(waits!)).toEqual([false, false, false, false, true])
  })
})
