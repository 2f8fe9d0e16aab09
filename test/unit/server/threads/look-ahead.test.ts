// Reading ahead for a batch: by which address each packet will probably be answered.
import { expect, test } from 'vitest'
import { LookAhead } from '#server/threads/look-ahead.ts'
import { query } from '#test/support/dns/message.ts'
import { listSource } from '#test/support/memory-source.ts'

const subnet = (family: number, source: number, ...octets: number[]) => ({
  code: 8,
  data: Buffer.from([0, family, source, 0, ...octets]),
})
const cookie = { code: 10, data: Buffer.from('0123456789abcdef', 'hex') }

const ask = (options?: { code: number; data: Buffer }[]): Buffer =>
  query('www.example.com. A', options === undefined ? {} : { opt: { options } })

const client = [192, 0, 2, 1]
const rows: [string, Buffer, number[]][] = [
  ['without EDNS: its client', ask(), client],
  ['with EDNS alone: its client', ask([]), client],
  ['with a subnet of 24 bits: that', ask([subnet(1, 24, 203, 0, 113)]), [203, 0, 113, 0]],
  [
    'with a subnet behind another option: that',
    ask([cookie, subnet(1, 24, 203, 0, 113)]),
    [203, 0, 113, 0],
  ],
  ['with a subnet of IPv6: its client', ask([subnet(2, 24, 32, 1, 13)]), client],
  ['that is cut: its client', ask().subarray(0, 5), client],
  ['that is empty: its client', Buffer.alloc(0), client],
]

test.each(rows)('a query %s', (_, packet, address) => {
  const source = listSource([[packet, packet]])
  source.clients.set([...client, ...client])
  source.receive()
  const asked: number[][] = []
  const table = {
    readAhead4(addresses: Int32Array, count: number): number {
      for (let i = 0; i < count; i++) {
        asked.push([...Buffer.from(Uint32Array.of(addresses[i]!).buffer)].reverse())
      }
      return 7
    },
  }
  const ahead = new LookAhead(source)
  ahead.read(table, 2)
  expect(asked).toEqual([address, address])
  expect(ahead.sum).toBe(7)
})
