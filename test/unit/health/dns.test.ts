// DNS probes against servers that answer right, late, cut, wrong, hostile or not at all.
import { createSocket } from 'node:dgram'
import type { RemoteInfo, Socket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Server } from 'node:net'
import { decode, encode } from 'dns-packet'
import type { Answer, Packet } from 'dns-packet'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import type { HealthCheckModel } from '#bundle/format/model.ts'
import { answerTexts, dnsQuery, dnsTypeCodes, fitsQuery } from '#health/probes/dns-message.ts'
import { probeTarget, unlessStalled } from './check.ts'
import { probeOne, wordsOf } from './probe-one.ts'
import { testProbes } from './probe-table.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

const { probes } = testProbes()
const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

type Answerer = (query: Packet, socket: Socket, from: RemoteInfo) => void

async function startUdp(answer: Answerer, address = '127.0.0.1'): Promise<number> {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4')
  socket.on('message', (message, from) => {
    answer(decode(message), socket, from)
  })
  socket.bind(0, address)
  await once(socket, 'listening')
  cleanups.push(() => new Promise<void>((resolve) => socket.close(resolve)))
  return socket.address().port
}

/** Binds UDP and TCP of one port; tries another one when a program has the TCP half. */
async function bindBoth(answer: Answerer, server: Server): Promise<number> {
  for (let left = 20; ; left--) {
    const port = await startUdp(answer)
    server.listen(port, '127.0.0.1')
    try {
      await once(server, 'listening')
      return port
    } catch (error) {
      if (left === 0) throw error
    }
  }
}

/** @param overTcp on the same port; nothing: it answers with octets that are no message */
async function startCut(overTcp: (query: Packet) => Buffer, udpFlags = 0x200): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', (bytes: Buffer) => {
      const reply = overTcp(decode(bytes.subarray(2)))
      // In two pieces that part the length.
      socket.write(reply.subarray(0, 1), () => socket.end(reply.subarray(1)))
    })
  })
  cleanups.push(() => new Promise((resolve) => server.close(resolve)))
  return bindBoth((query, socket, from) => {
    const cut = response(query, [], udpFlags)
    socket.send(cut, from.port, from.address)
  }, server)
}

function response(query: Packet, answers: readonly Answer[], flags = 0): Buffer {
  const { id = 0, questions = [] } = query
  return encode({ type: 'response', id, questions, answers: [...answers], flags })
}

const framed = (message: Buffer): Buffer => {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(message.length)
  return Buffer.concat([length, message])
}

const withAnswers =
  (answers: readonly Answer[], flags = 0): Answerer =>
  (query, socket, from) => {
    socket.send(response(query, answers, flags), from.port, from.address)
  }

async function ask(port: number, given: Partial<HealthCheckModel> = {}): Promise<string> {
  const check = { type: 'dns', port, dnsName: 'www.example.com', ...given } as const
  return wordsOf(await probeOne(probes, check))
}

const name = 'www.example.com'
const a = { type: 'A', name, data: '192.0.2.10' } as const
const lacking = 'failure: no record in the answer is the one in dnsContains'

test('a member without a route to it is down, and nothing else is', async () => {
  // A link-local address belongs to a link, and this one names none.
  const check = { type: 'dns', port: 53, dnsName: 'www.example.com.' } as const
  expect(await probeOne(probes, check, 'fe80::1')).toMatchObject({ outcome: 'failure' })
})

describe('contents required of an answer', () => {
  const rows: readonly (readonly [Partial<HealthCheckModel>, Answer[], string])[] = [
    [{}, [a], 'success'],
    // The response code is enough while nothing else is asked for.
    [{}, [], 'success'],
    [{ dnsContains: '192.0.2.10' }, [a], 'success'],
    [{ dnsContains: '192.0.2.1' }, [a], lacking],
    [{ dnsContains: '192.0.2.10' }, [], lacking],
    [
      { dnsContains: '192.0.2.10' },
      [
        { type: 'CNAME', name, data: 'b.example' },
        { ...a, name: 'b.example' },
      ],
      'success',
    ],
    [
      { dnsType: 'AAAA', dnsContains: '2001:DB8:0::1' },
      [{ type: 'AAAA', name, data: '2001:db8::1' }],
      'success',
    ],
    // Another type in the answer does not count.
    [{ dnsType: 'AAAA', dnsContains: '::1' }, [a], lacking],
    [
      { dnsType: 'CNAME', dnsContains: 'B.Example' },
      [{ type: 'CNAME', name, data: 'b.example' }],
      'success',
    ],
    [{ dnsType: 'NS', dnsContains: 'ns.x.' }, [{ type: 'NS', name, data: 'ns.x' }], 'success'],
    [{ dnsType: 'PTR', dnsContains: 'h.x' }, [{ type: 'PTR', name, data: 'h.x' }], 'success'],
    [
      { dnsType: 'MX', dnsContains: '10 mail.example.com.' },
      [{ type: 'MX', name, data: { preference: 10, exchange: 'mail.example.com' } }],
      'success',
    ],
    [
      { dnsType: 'TXT', dnsContains: 'état=ok' },
      [{ type: 'TXT', name, data: ['the é', 'tat=ok!'] }],
      'success',
    ],
    [{ dnsType: 'TXT', dnsContains: 'ok' }, [{ type: 'TXT', name, data: ['no'] }], lacking],
    [
      { dnsType: 'SOA', dnsContains: ' 2026112300 ' },
      [
        {
          type: 'SOA',
          name,
          data: { mname: 'ns.x', rname: 'h.x', serial: 2_026_112_300, minimum: 30 },
        },
      ],
      'success',
    ],
  ]
  test.each(rows)('%j of %j: %s', async (check, answers, words) => {
    expect(await ask(await startUdp(withAnswers(answers)), check)).toBe(words)
  })

  test.each([
    ['NOERROR', 0, 'success'],
    ['NOERROR', 2, 'failure: DNS SERVFAIL, expected NOERROR'],
    ['NXDOMAIN', 3, 'success'],
    ['NXDOMAIN', 0, 'failure: DNS NOERROR, expected NXDOMAIN'],
    ['REFUSED', 5, 'success'],
    ['NOERROR', 11, 'failure: DNS RCODE11, expected NOERROR'],
  ] as const)('%s is expected, %i comes: %s', async (dnsRcode, rcode, words) => {
    expect(await ask(await startUdp(withAnswers([], rcode)), { dnsRcode })).toBe(words)
  })
})

test('the question is asked as it stands, over IPv6 too, and its time is measured', async () => {
  let seen: unknown
  const port = await startUdp((query, socket, from) => {
    seen = [query.questions, (query.flags ?? 0) & 0x100]
    withAnswers([a])(query, socket, from)
  }, '::1')
  const check = { type: 'dns', port, dnsName: 'aB.example.', dnsType: 'TXT' } as const
  const result = await probeOne(probes, check, '::1')
  expect(wordsOf(result)).toBe('success')
  expect(result.rttMs).toBeGreaterThan(0)
  expect(seen).toEqual([[{ name: 'aB.example', type: 'TXT', class: 'IN' }], 0x100])
})

test('a query that is lost is sent again, while there is time', async () => {
  let seen = 0
  const port = await startUdp((query, socket, from) => {
    if (++seen === 3) withAnswers([a])(query, socket, from)
  })
  const result = await unlessStalled(() => {
    seen = 0
    return probeOne(probes, { type: 'dns', port, dnsName: 'x.', timeoutMs: 900 })
  })
  expect(wordsOf(result)).toBe('success')
  // Nobody knows which of the three queries was answered.
  expect(result.rttMs).toBe(0)
})

test('a server that is silent is asked three times, then the time is over', async () => {
  let seen = 0
  const port = await startUdp(() => {
    seen++
  })
  const result = await unlessStalled(() => {
    seen = 0
    return probeOne(probes, { type: 'dns', port, dnsName: 'x.', timeoutMs: 150 })
  })
  expect(wordsOf(result)).toBe('timeout: no result within 150 ms')
  expect(seen).toBe(3)
})

test('a port where nobody listens is told at once', async () => {
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  await new Promise<void>((resolve) => socket.close(resolve))
  expect(await ask(port)).toBe('failure: connection refused')
})

test('a name that is none is not asked for', async () => {
  expect(await ask(53, { dnsName: 'a..b' })).toBe('failure: dnsName is no domain name')
})

test('an attempt that is called off reports nothing', async () => {
  const port = await startUdp(withAnswers([a]))
  const check = probeTarget('m1', { type: 'dns', port, dnsName: 'x.' })
  let reports = 0
  probes.dns.run(check, () => reports++)()
  expect(await ask(port)).toBe('success')
  expect(reports).toBe(0)
})

describe('a packet that does not fit is no answer', () => {
  const wrong: readonly (readonly [what: string, make: (query: Packet) => Buffer])[] = [
    ['another id', (query) => response({ ...query, id: ((query.id ?? 0) + 1) & 0xffff }, [a])],
    [
      'another name',
      (query) => response({ ...query, questions: [{ name: 'x.example.com', type: 'A' }] }, [a]),
    ],
    ['another type', (query) => response({ ...query, questions: [{ name, type: 'AAAA' }] }, [a])],
    ['no question', (query) => response({ ...query, questions: [] }, [a])],
    ['a query', (query) => encode({ ...query, type: 'query' })],
    ['another opcode', (query) => response(query, [a], 0x2000)],
    ['nothing', () => Buffer.alloc(0)],
    ['half a header', (query) => response(query, [a]).subarray(0, 11)],
    ['half a question', (query) => response(query, [a]).subarray(0, 20)],
    ['a header that says all is well', (query) => response({ ...query, questions: [] }, [])],
  ]
  test.each(wrong)('%s is passed over, and the right one counts', async (_what, make) => {
    const port = await startUdp((query, socket, from) => {
      socket.send(make(query), from.port, from.address)
      withAnswers([a])(query, socket, from)
    })
    expect(await ask(port, { dnsContains: '192.0.2.10' })).toBe('success')
  })

  test('another source is not heard', async () => {
    const stranger = createSocket('udp4').bind(0, '127.0.0.1')
    await once(stranger, 'listening')
    cleanups.push(() => new Promise<void>((resolve) => stranger.close(resolve)))
    const port = await startUdp((query, socket, from) => {
      stranger.send(response(query, [a]), from.port, from.address, () => {
        withAnswers([], 3)(query, socket, from)
      })
    })
    expect(await ask(port)).toBe('failure: DNS NXDOMAIN, expected NOERROR')
  })

  test('a member that sends a hundred of them has failed', async () => {
    const port = await startUdp((query, socket, from) => {
      const more = (left: number): void => {
        if (left > 0)
          socket.send(encode({ ...query, id: 0 }), from.port, from.address, () => more(left - 1))
      }
      more(150)
    })
    expect(await ask(port)).toBe('failure: the answers do not fit the question')
  })

  test('a server that cannot read the question may leave it out', async () => {
    const port = await startUdp((query, socket, from) => {
      socket.send(response({ ...query, questions: [] }, [], 4), from.port, from.address)
    })
    expect(await ask(port)).toBe('failure: DNS NOTIMP, expected NOERROR')
  })
})

describe('an answer that was cut is asked for over TCP', () => {
  const check = { dnsContains: '192.0.2.10' }
  const rows: readonly (readonly [string, (query: Packet) => Buffer, string])[] = [
    ['whole', (query) => framed(response(query, [a])), 'success'],
    [
      'for another question',
      (query) => framed(response({ ...query, id: ((query.id ?? 0) + 1) & 0xffff }, [a])),
      'failure: the answer over TCP does not fit the question',
    ],
    [
      'shorter than it says',
      (query) => framed(response(query, [a])).subarray(0, 20),
      'failure: connection closed before a response',
    ],
    ['of nothing', () => framed(Buffer.alloc(0)), 'failure: the answer over TCP does not fit'],
    ['that lacks it', (query) => framed(response(query, [])), lacking],
  ]
  test.each(rows)('%s', async (_what, overTcp, words) => {
    expect(await ask(await startCut(overTcp), check)).toContain(words)
  })

  test('and where nobody listens for it, the member has failed', async () => {
    expect(await ask(await startUdp(withAnswers([], 0x200)), check)).toBe(
      'failure: connection refused',
    )
  })
})

const wire = wireName(name)
const query = dnsQuery(7, wire, dnsTypeCodes.TXT)

test('no octets after a question make the reader throw or take long', () => {
  const types = Object.values(dnsTypeCodes)
  const records = fc.array(
    fc.record({
      owner: fc.constantFrom('c00c', '00', 'c0ff', 'ffff', '0161c00c', '3f'),
      type: fc.constantFrom(...types),
      data: fc.uint8Array({ maxLength: 40 }),
      lie: fc.integer({ min: -3, max: 3 }),
    }),
    { maxLength: 6 },
  )
  let whole = 0
  fc.assert(
    fc.property(records, fc.nat(8), fc.constantFrom(...types), (given, count, type) => {
      const asked = dnsQuery(7, wire, type)
      const head = Buffer.from(asked)
      head[2] = 0x80
      head.writeUInt16BE(count, 6)
      const body = given.map(({ owner, type: its, data, lie }) => {
        const fixed = Buffer.alloc(10)
        fixed.writeUInt16BE(its, 0)
        fixed.writeUInt16BE(1, 2)
        fixed.writeUInt16BE(Math.max(0, data.length + lie), 8)
        return Buffer.concat([Buffer.from(owner, 'hex'), fixed, data])
      })
      const message = Buffer.concat([head, ...body])
      expect(fitsQuery(message, asked)).toBe(true)
      if (answerTexts(message, asked) !== undefined) whole++
    }),
    { numRuns: 20_000, seed: 20_261_123 },
  )
  expect(whole).toBeGreaterThan(100)
})

test('a message of 64 KiB of names that point to each other is read in bounded time', () => {
  const asked = dnsQuery(7, wire, dnsTypeCodes.NS)
  const head = Buffer.from(asked)
  head[2] = 0x80
  // A chain of pointers, each to the one before, as long as pointers reach.
  const links = Buffer.alloc(16_000)
  const base = head.length + 11
  for (let at = 0; at < links.length; at += 2)
    links.writeUInt16BE(0xc000 | (at === 0 ? 12 : base + at - 2), at)
  const owner = Buffer.from([0, 0, 16, 0, 1, 0, 0, 0, 0, links.length >> 8, links.length & 0xff])
  const record = Buffer.from([0, 0, 2, 0, 1, 0, 0, 0, 0, 0, 2, 0, 0])
  record.writeUInt16BE(0xc000 | (base + links.length - 2), 11)
  const count = Math.floor((65_535 - base - links.length) / record.length)
  head.writeUInt16BE(count + 1, 6)
  const message = Buffer.concat([head, owner, links, ...Array<Buffer>(count).fill(record)])
  const before = process.cpuUsage()
  expect(answerTexts(message, asked)).toBe(undefined)
  expect(process.cpuUsage(before).user).toBeLessThan(2_000_000)
})

test('a fitting answer repeats the question octet for octet, except for case', () => {
  const answer = Buffer.from(query)
  answer[2] = 0x80
  expect(fitsQuery(answer, query)).toBe(true)
  expect(fitsQuery(Buffer.from(answer.map((o, i) => (i === 13 ? o - 32 : o))), query)).toBe(true)
  fc.assert(
    fc.property(fc.nat(query.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
      const other = Buffer.from(answer)
      other[at]! ^= flip
      // Flags and counts of what follows do not belong to the question.
      const isFree = (at >= 2 && at < 4) || (at >= 6 && at < 12)
      const isCase = flip === 0x20 && at > 12 && at < query.length - 4
      fc.pre(!isFree && !isCase)
      expect(fitsQuery(other, query)).toBe(false)
    }),
    { seed: 20_261_123 },
  )
})
