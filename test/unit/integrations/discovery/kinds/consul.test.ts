// consul: the documented shape of /v1/health/service, its index, and its token.
import { expect, test } from 'vitest'
import { ok } from '#lib/result.ts'
import { asked, askOf, startApi, targetLines } from '#test/support/discovery-kinds.ts'

/** As the documentation of Consul's HTTP API has it, shortened. */
const instance = (id: string, parts: object, node: object = {}) => ({
  Node: {
    ...{ ID: '40e4a748-2192-161a-0510-9bf59fe950b5', Node: 'web-a', Address: '192.0.2.1' },
    ...{ Datacenter: 'FRA1', TaggedAddresses: { lan: '192.0.2.1', wan: '192.0.2.1' }, Meta: {} },
    ...node,
  },
  Service: {
    ...{ ID: id, Service: 'shop', Tags: ['V2', 'blue'], Address: '', Port: 8000 },
    ...{ Meta: { Region: 'EU' }, Weights: { Passing: 3, Warning: 1 }, Namespace: 'default' },
    ...parts,
  },
  Checks: [{ CheckID: 'serfHealth', Status: 'passing', ServiceID: '', Type: '' }],
})

test('healthy instances are asked for, then what is new, with weights and labels', async () => {
  let index = '7'
  const instances = [
    instance('shop1', { Address: '192.0.2.11' }),
    instance('shop2', { Meta: { weight: '9' }, Tags: null }),
    instance('shop3', { Address: '2001:db8::1', Weights: undefined }),
  ]
  const api = await startApi(() => ({ json: instances, headers: { 'x-consul-index': index } }))
  const ask = askOf('consul', { url: api.url }, { secret: () => ok('tok') })
  const first = await ask(asked('shop'))
  expect(targetLines(first, 'weight', 'tag', 'region', 'dc')).toEqual([
    '192.0.2.11:8000 weight=3 tag=v2+blue region=eu dc=fra1',
    '192.0.2.1:8000 weight=9 tag= region= dc=fra1',
    '2001:db8::1:8000 weight= tag=v2+blue region=eu dc=fra1',
  ])
  expect(first).toMatchObject({ value: { cursor: '7' } })
  expect(await ask(asked('shop', '6'))).toMatchObject({ value: { cursor: '7' } })
  index = '5'
  expect(await ask(asked('shop', '7'))).toMatchObject({ value: { cursor: '' } })
  index = '0'
  expect(await ask(asked('shop', '7'))).toMatchObject({ value: { cursor: '' } })
  expect(api.requests.map(({ url }) => url).slice(0, 2)).toEqual([
    '/v1/health/service/shop?passing=1',
    '/v1/health/service/shop?passing=1&index=6&wait=50s',
  ])
  expect(api.requests[0]!.headers['x-consul-token']).toBe('tok')
  api.stop()
})

test('an answer that is no list of instances is a fault', async () => {
  for (const json of [{}, 'x', [{ Node: {}, Service: {} }]]) {
    const api = await startApi(() => ({ json }))
    const [line] = targetLines(await askOf('consul', { url: api.url })(asked('shop')))
    expect(line).toMatch(/: (it is no list of instances|one of its instances has no address)$/)
    api.stop()
  }
})
