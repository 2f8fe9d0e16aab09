// EndpointSlices as the API of Kubernetes lists them, in pages; its published schema takes them.

const list = { kind: 'EndpointSliceList', apiVersion: 'discovery.k8s.io/v1' }

export const slice = (addressType: string, endpoints: readonly object[]) => ({
  metadata: { name: 'shop-abc', labels: { 'kubernetes.io/service-name': 'shop', App: 'Shop' } },
  ...{ addressType, endpoints },
  ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
})

export const endpoint = (address: string, conditions: object | undefined, zone = 'eu-1a') => ({
  ...{ addresses: [address], nodeName: 'n1', zone },
  ...(conditions === undefined ? {} : { conditions }),
})

/** Pages of a list by the token that asks for each; '' is for the first. */
export const slicePages: Readonly<Record<string, object>> = {
  '': {
    ...list,
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
    ...list,
    metadata: { resourceVersion: '11' },
    items: [
      slice('IPv6', [endpoint('2001:db8::1', { ready: true })]),
      // On its way from one slice to another, it stands in both.
      slice('IPv4', [endpoint('192.0.2.1', { ready: true })]),
    ],
  },
}
