import { decode } from 'dns-packet'
import { expect, test } from 'vitest'
import { encodeQuery } from '#bench/data/query-wire.ts'

test('a query is one question, as another decoder reads it', () => {
  const query = decode(Buffer.from(encodeQuery('svc0.example.com.', { id: 7, type: 28 })))
  expect(query).toMatchObject({
    id: 7,
    type: 'query',
    questions: [{ name: 'svc0.example.com', type: 'AAAA', class: 'IN' }],
    additionals: [],
  })
})

test('a query with a client subnet carries a /24 of IPv4', () => {
  const query = decode(Buffer.from(encodeQuery('svc0.example.com', { edns: 'ecs' })))
  expect(query.additionals).toMatchObject([
    {
      type: 'OPT',
      udpPayloadSize: 1232,
      options: [{ type: 'CLIENT_SUBNET', family: 1, sourcePrefixLength: 24, ip: '198.51.100.0' }],
    },
  ])
})
