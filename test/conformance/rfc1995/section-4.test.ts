// RFC 1995 sections 4 and 5: what has changed since the version that the client has from this node.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exchangeUdp, TcpClient } from '#test/support/dns/client.ts'
import { decodeMessage, query } from '#test/support/dns/message.ts'
import type { Message } from '#test/support/dns/message.ts'
import { startNode } from '#test/support/dns/node.ts'
import type { RunningNode } from '#test/support/dns/node.ts'
import { a, lineOf } from '#test/support/dns/record.ts'
import { ZoneCopy } from '#test/support/dns/zone-copy.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

const catalog = wireName('catalog.example.')
const rows = Array.from({ length: 300 }, (_, i) => `n${i} 60 TXT ${'x'.repeat(100)}`)
const zoneOf = (refresh: number, ...lines: readonly string[]) => ({
  name: 'example.com.',
  text: ['@ 60 IN SOA ns root 1', `${refresh} 3 4 5\n@ 60 NS ns.example.net.`]
    .join(' ')
    .concat(`\n${[...rows, ...lines].join('\n')}\n`),
})
const soaText = 'ns.example.com. root.example.com.'

let node: RunningNode
/** Counts the versions: the serial is that of the node. */
let served = 1
beforeAll(async () => {
  const transfers = { enabled: true, requireTsig: false, allow: [], catalog }
  node = await startNode(zoneOf(2), { transfers })
})
afterAll(() => node.stop())

async function serve(refresh: number, ...lines: readonly string[]): Promise<number> {
  await node.serve(zoneOf(refresh, ...lines))
  return ++served
}

/** Messages up to what ends the transfer. @param have undefined: AXFR */
async function transfer(have?: number, apex = 'example.com.', opt = false): Promise<Message[]> {
  const client = await TcpClient.connect(node)
  const authority = have === undefined ? [] : [a(`${apex} 0 IN SOA . . ${have} 0 0 0 0`)]
  const type = have === undefined ? 'AXFR' : 'IXFR'
  client.send(query(`${apex} ${type}`, { authority, ...(opt && { opt: {} }) }))
  // What is asked next shows where the first reply ends.
  client.send(query('example.com. NS', { id: 9 }))
  const messages: Message[] = []
  for (;;) {
    const message = decodeMessage(await client.receive())
    if (message.id === 9) break
    messages.push(message)
  }
  client.destroy()
  return messages
}
const linesOf = (messages: readonly Message[]): string[] =>
  messages.flatMap(({ answer }) => answer.map(lineOf))

const soa = (serial: number, refresh = 2): string =>
  `example.com. 60 IN SOA ${soaText} ${serial} ${refresh} 3 4 5`

describe('a client that has a version from this node', () => {
  test('gets what is gone and what is new, between the older SOA and the newest', async () => {
    const before = await serve(2, 'www 60 A 192.0.2.1', 'old 60 TXT "old"')
    await transfer()
    const now = await serve(2, 'www 60 A 192.0.2.2', 'new 60 TXT "new"')
    const [message, ...others] = await transfer(before)
    expect(others).toEqual([])
    expect(message).toMatchObject({ rcode: 0, aa: true, tc: false, authority: [] })
    expect(message!.questions).toEqual([{ name: 'example.com.', type: 251, class: 1 }])
    const lines = linesOf([message!])
    const middle = lines.indexOf(soa(now), 1)
    expect([lines[0], lines[1], lines[middle], lines.at(-1)]).toEqual([
      soa(now),
      soa(before),
      soa(now),
      soa(now),
    ])
    expect(lines.slice(2, middle).sort()).toEqual([
      'old.example.com. 60 IN TXT "old"',
      'www.example.com. 60 IN A 192.0.2.1',
    ])
    expect(lines.slice(middle + 1, -1).sort()).toEqual([
      'new.example.com. 60 IN TXT "new"',
      'www.example.com. 60 IN A 192.0.2.2',
    ])
  })

  test('gets all records of a set whose TTL has changed', async () => {
    const before = await serve(2, 'www 60 A 192.0.2.1', 'www 60 A 192.0.2.2')
    await transfer()
    const now = await serve(2, 'www 61 A 192.0.2.1', 'www 61 A 192.0.2.2')
    const records = (ttl: number): string[] =>
      [1, 2].map((last) => `www.example.com. ${ttl} IN A 192.0.2.${last}`)
    expect(linesOf(await transfer(before))).toEqual([
      ...[soa(now), soa(before), ...records(60)],
      ...[soa(now), ...records(61), soa(now)],
    ])
  })

  test('gets one difference over many changes, without what came and went', async () => {
    const before = await serve(2, 'a 60 A 192.0.2.1')
    await transfer()
    await serve(2, 'b 60 A 192.0.2.1')
    await serve(3, 'a 60 A 192.0.2.1', 'c 60 A 192.0.2.1')
    const now = await serve(4, 'a 60 A 192.0.2.1', 'd 60 A 192.0.2.1')
    const d = 'd.example.com. 60 IN A 192.0.2.1'
    expect(linesOf(await transfer(before))).toEqual([
      soa(now, 4),
      soa(before),
      soa(now, 4),
      d,
      soa(now, 4),
    ])
    // The client has that one now, too.
    const next = await serve(4, 'a 60 A 192.0.2.1')
    expect(linesOf(await transfer(now))).toEqual([
      soa(next, 4),
      soa(now, 4),
      d,
      soa(next, 4),
      soa(next, 4),
    ])
  })

  test('gets four SOA records where nothing but the serial has changed', async () => {
    const before = await serve(2)
    await transfer()
    const now = await serve(2)
    expect(linesOf(await transfer(before))).toEqual([soa(now), soa(before), soa(now), soa(now)])
  })

  test('gets an OPT record with it where it sent one', async () => {
    const before = await serve(2)
    await transfer()
    await serve(2)
    const [message] = await transfer(before, 'example.com.', true)
    expect([message!.opt?.version, message!.answer.length]).toEqual([0, 4])
  })

  test('gets the whole zone where that is less, or its version is unknown', async () => {
    const before = await serve(2)
    await transfer()
    const many = Array.from({ length: 300 }, (_, i) => `m${i} 60 TXT ${'y'.repeat(120)}`)
    const now = await serve(2, ...many)
    for (const have of [before, before - 5]) {
      const lines = linesOf(await transfer(have))
      expect(lines).toHaveLength(603)
      expect([lines[0], lines.at(-1)]).toEqual([soa(now), soa(now)])
    }
  })

  test('gets the current SOA alone over UDP, and comes over TCP', async () => {
    const before = await serve(2)
    await transfer()
    const now = await serve(2, 'a 60 A 192.0.2.1')
    const authority = [a(`example.com. 0 IN SOA . . ${before} 0 0 0 0`)]
    const reply = await exchangeUdp(node, query('example.com. IXFR', { authority }))
    expect(linesOf([decodeMessage(reply)])).toEqual([soa(now)])
    expect(await transfer(before)).toHaveLength(1)
  })

  test('has its copy after each of many changes, and of the catalog zone', async () => {
    const copies = ['example.com.', 'catalog.example.'].map((apex) => ({
      apex,
      copy: new ZoneCopy(),
    }))
    await serve(2)
    for (const { apex, copy } of copies) copy.take(await transfer(undefined, apex))
    for (let i = 0; i < 20; i++) {
      await serve(2, `a${i % 3} ${60 + (i % 2)} A 192.0.2.${i % 5}`, `*.w${i % 4} 60 MX 10 a.b`)
      for (const { apex, copy } of copies) {
        expect(copy.take(await transfer(copy.serial, apex))).toBe('changes')
        const whole = new ZoneCopy()
        whole.take(await transfer(undefined, apex))
        expect([...copy.lines].sort()).toEqual([...whole.lines].sort())
      }
    }
  })
})
