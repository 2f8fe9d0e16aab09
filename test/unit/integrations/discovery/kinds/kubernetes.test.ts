// kubernetes: EndpointSlices as the API of a cluster lists them, in pages, by a kubeconfig.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { asked, askOf, startApi, targetLines } from '#test/support/discovery-kinds.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const slice = (addressType: string, endpoints: readonly object[]) => ({
  metadata: { name: 'shop-abc', labels: { 'kubernetes.io/service-name': 'shop', App: 'Shop' } },
  ...{ addressType, endpoints },
  ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
})

const endpoint = (address: string, conditions: object | undefined, zone = 'eu-1a') => ({
  ...{ addresses: [address], nodeName: 'n1', zone },
  ...(conditions === undefined ? {} : { conditions }),
})

const pages: Readonly<Record<string, object>> = {
  '': {
    ...{ kind: 'EndpointSliceList', apiVersion: 'discovery.k8s.io/v1' },
    metadata: { resourceVersion: '10', continue: 'more of it' },
    items: [
      slice('IPv4', [
        endpoint('192.0.2.1', { ready: true, serving: true, terminating: false }),
        endpoint('192.0.2.2', { ready: false, serving: true, terminating: true }),
        endpoint('192.0.2.3', undefined, 'EU-1B'),
      ]),
      slice('FQDN', [endpoint('web.example.net', { ready: true })]),
    ],
  },
  'more of it': {
    metadata: {},
    items: [
      slice('IPv6', [endpoint('2001:db8::1', { ready: true })]),
      // On its way from one slice to another, it stands in both.
      slice('IPv4', [endpoint('192.0.2.1', { ready: true })]),
    ],
  },
}

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
    return { json: pages[more] }
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
