import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatName } from '#dns/name.ts'
import { checkUpdate } from '#dns/update/check-update.ts'
import type { ZoneView } from '#dns/update/check-update.ts'
import { readUpdate } from '#dns/update/read-update.ts'
import { encodeMessage } from '#test/support/dns/message.ts'
import { a } from '#test/support/dns/record.ts'
import type { ResourceRecord } from '#test/support/dns/record.ts'
import { corpusMessage, tsigCorpus } from '../tsig/tsig-corpus.ts'

const txt = (text: string): Buffer => Buffer.from(`${String.fromCharCode(text.length)}${text}`)

const mx = (name: string): Buffer => Buffer.from(`\0\x0a${name}`, 'latin1')

/** example.com has `t` with TXT "1" and "2", and `w` with an address. */
const view: ZoneView = {
  takes: (type) => type === 16,
  isZone: (apex) => formatName(apex) === 'example.com.',
  isUsed: (name) => ['t.example.com.', 'w.example.com.'].includes(formatName(name)),
  rdataOf: (name, type) => {
    const key = `${formatName(name)} ${type}`
    if (key === 't.example.com. 16') return [txt('1'), txt('2')]
    if (key === 'w.example.com. 15') return [mx('\x04Mail\x07EXAMPLE\x03com\0')]
    return key === 'w.example.com. 1' ? [Buffer.from([192, 0, 2, 1])] : undefined
  },
}

/** Without data where the line has none. */
function recordOf(line: string): ResourceRecord {
  return a(line.split(' ').length === 4 ? `${line} \\# 0` : line)
}

/** `3`, or the changes. */
function outcome(
  prerequisites: readonly string[],
  updates: readonly string[],
  zone = { name: 'Example.com.', type: 6, class: 1 },
  types = [16],
): number | string {
  const message = encodeMessage({
    ...{ opcode: 5, questions: [zone] },
    answer: prerequisites.map(recordOf),
    authority: updates.map(recordOf),
  })
  const read = readUpdate(message)
  if (read === undefined) return 1
  const checked = checkUpdate(read, { ...view, takes: (type) => types.includes(type) })
  if (checked.rcode !== 0) return checked.rcode
  return checked.changes.map((one) => `${one.verb} ${formatName(one.name)[0]}`).join(', ')
}

const octets = (text: string): Uint8Array => new Uint8Array(Buffer.from(text))

describe('RFC 2136 section 3.1: the zone', () => {
  test.each([
    [{ name: 'example.com.', type: 6, class: 1 }, ''],
    [{ name: 'example.com.', type: 1, class: 1 }, 1],
    [{ name: 'example.net.', type: 6, class: 1 }, 9],
    [{ name: 'example.com.', type: 6, class: 3 }, 9],
  ])('%j: %s', (zone, expected) => {
    expect(outcome([], [], zone)).toBe(expected)
  })

  test('there is one', () => {
    const one = { name: 'example.com.', type: 6, class: 1 }
    for (const questions of [[], [one, one]]) {
      expect(readUpdate(encodeMessage({ opcode: 5, questions }))).toBeUndefined()
    }
  })
})

describe('RFC 2136 section 3.2: prerequisites', () => {
  test.each([
    ['T.example.com. 0 ANY ANY', ''],
    ['x.example.com. 0 ANY ANY', 3],
    ['t.example.com. 0 ANY TXT', ''],
    ['w.example.com. 0 ANY TXT', 8],
    ['x.example.com. 0 NONE ANY', ''],
    ['t.example.com. 0 NONE ANY', 6],
    ['w.example.com. 0 NONE TXT', ''],
    ['t.example.com. 0 NONE TXT', 7],
    ['t.example.net. 0 ANY ANY', 10],
    ['com. 0 ANY ANY', 10],
    ['t.example.com. 1 ANY ANY', 1],
    ['t.example.com. 0 CH TXT "1"', 1],
    ['t.example.com. 0 IN TXT "1"', 8],
    ['w.example.com. 0 IN A 192.0.2.1', ''],
    ['w.example.com. 0 IN A 192.0.2.2', 8],
    ['x.example.com. 0 IN A 192.0.2.2', 8],
  ])('%s: %s', (line, expected) => {
    expect(outcome([line], [])).toBe(expected)
  })

  test('an rrset with values is compared whole, in any order', () => {
    const both = ['t.example.com. 0 IN TXT "2"', 't.example.com. 0 IN TXT "1"']
    expect(outcome(both, [])).toBe('')
    expect(outcome([...both, 't.example.com. 0 IN TXT "3"'], [])).toBe(8)
  })
})

describe('names in the rdata of a prerequisite', () => {
  /** Compressed: the last name is a pointer to that of the zone. */
  const compressed = mx('\x04mAIL\xc0\x0c')
  test.each([
    ['are the same in other letters', mx('\x04mail\x07example\x03COM\0'), 0],
    ['may be compressed', compressed, 0],
    ['are compared', mx('\x04male\x07example\x03com\0'), 8],
    ['are whole', mx('\x04mail\xc0'), 1],
    ['end with the rdata', Buffer.concat([mx('\x04mail'), Buffer.of(7)]), 1],
    ['are there', Buffer.of(0), 1],
  ])('%s', (_what, rdata, rcode) => {
    const message = encodeMessage({
      ...{ opcode: 5, questions: [{ name: 'example.com.', type: 6, class: 1 }] },
      answer: [{ ...a('w.example.com. 0 IN MX 10 x.'), rdata }],
    })
    const read = readUpdate(message)
    expect(read === undefined ? 1 : checkUpdate(read, view).rcode).toBe(rcode)
  })
})

describe('RFC 2136 section 3.4: updates', () => {
  test.each([
    ['n.example.com. 60 IN TXT "a" "b"', 'add n'],
    ['t.example.com. 0 NONE TXT "1"', 'delete t'],
    ['t.example.com. 0 ANY TXT', 'delete-rrset t'],
    ['t.example.com. 0 ANY ANY', 'delete-all t'],
    // Records of types that are not taken are skipped.
    ['n.example.com. 60 IN A 192.0.2.1', ''],
    ['w.example.com. 0 NONE A 192.0.2.1', ''],
    ['w.example.com. 0 ANY A', ''],
    ['n.example.net. 60 IN TXT "a"', 10],
    ['xexample.com. 60 IN TXT "a"', 10],
    ['t.example.com. 1 NONE TXT "1"', 1],
    ['t.example.com. 1 ANY TXT', 1],
    ['t.example.com. 0 ANY TXT "1"', 1],
    ['t.example.com. 0 CH TXT "1"', 1],
    ['t.example.com. 0 IN ANY', 1],
    ['t.example.com. 0 NONE ANY', 1],
    ['t.example.com. 0 IN TXT', 1],
  ])('%s: %s', (line, expected) => {
    expect(outcome([], [line])).toBe(expected)
  })

  const others = [1, 5, 12, 16, 28, 33, 49]
  test.each([
    ['n.example.com. 60 IN A 192.0.2.1', 'add n'],
    ['n.example.com. 60 IN A \\# 3 c00002', 1],
    ['n.example.com. 60 IN AAAA 2001:db8::1', 'add n'],
    ['n.example.com. 60 IN AAAA \\# 4 c0000201', 1],
    ['n.example.com. 60 IN CNAME x.', 'add n'],
    ['n.example.com. 60 IN PTR Host.Example.net.', 'add n'],
    ['n.example.com. 60 IN SRV \\# 24 00010002000304486f7374074578616d706c65034e455400', 'add n'],
    ['n.example.com. 60 IN SRV \\# 6 000100020003', 1],
    ['n.example.com. 60 IN TYPE49 \\# 5 0002016360', 'add n'],
    ['n.example.com. 60 IN TYPE49 \\# 2 0002', 1],
    ['n.example.com. 60 IN MX 10 x.', ''],
    ['n.example.com. 60 IN NS x.', ''],
    ['w.example.com. 0 NONE A 192.0.2.1', 'delete w'],
    ['w.example.com. 0 ANY A', 'delete-rrset w'],
    ['w.example.com. 0 ANY MX', ''],
    ['w.example.com. 0 ANY ANY', 'delete-all w'],
  ])('of more types than TXT: %s: %s', (line, expected) => {
    expect(outcome([], [line], undefined, others)).toBe(expected)
  })

  test('have names in their data without letter case', () => {
    const message = encodeMessage({
      ...{ opcode: 5, questions: [{ name: 'example.com.', type: 6, class: 1 }] },
      authority: [
        'IN PTR Host.Example.NET.',
        'IN SRV \\# 24 00010002000304486f7374074578616d706c65034e455400',
      ].map((rest) => a(`n.example.com. 60 ${rest}`)),
    })
    const name = '\x04host\x07example\x03net\0'
    expect(checkUpdate(readUpdate(message)!, { ...view, takes: () => true })).toMatchObject({
      changes: [{ rdata: octets(name) }, { rdata: octets(`\0\x01\0\x02\0\x03${name}`) }],
    })
  })

  test('are carried out in their order, or not at all', () => {
    const all = ['t.example.com. 0 ANY TXT', 'n.example.com. 60 IN TXT "a"']
    expect(outcome([], all)).toBe('delete-rrset t, add n')
    expect(outcome([], [...all, 'n.example.net. 60 IN TXT "a"'])).toBe(10)
    expect(outcome(['x.example.com. 0 ANY ANY'], all)).toBe(3)
  })

  test('as nsupdate writes them, compressed and signed', () => {
    const read = readUpdate(corpusMessage('signed-by-nsupdate'))!
    expect(read.prerequisites.map(({ owner }) => formatName(owner))).toEqual(['www.example.com.'])
    const all = { ...view, isUsed: () => true }
    expect(checkUpdate(read, all)).toMatchObject({
      changes: [
        { verb: 'add', ttlSeconds: 60, rdata: octets('\x03a b\x01c') },
        { verb: 'delete-rrset', type: 16 },
      ],
    })
  })

  test('with the top bit of a TTL set have a TTL of zero', () => {
    const message = encodeMessage({
      ...{ opcode: 5, questions: [{ name: 'example.com.', type: 6, class: 1 }] },
      authority: [{ ...a('n.example.com. 60 IN TXT "a"'), ttl: 0x8000_0001 }],
    })
    expect(checkUpdate(readUpdate(message)!, view)).toMatchObject({ changes: [{ ttlSeconds: 0 }] })
  })
})

test('any octets are read without an exception', () => {
  const change = fc.record({ at: fc.nat(200), octet: fc.nat(255), cut: fc.nat(300) })
  const messages = fc.constantFrom(...tsigCorpus.values())
  fc.assert(
    fc.property(messages, fc.array(change, { minLength: 1 }), (base, all) => {
      const message = Buffer.from(base)
      for (const { at, octet } of all) if (at < message.length) message.writeUInt8(octet, at)
      const read = readUpdate(message.subarray(0, all[0]!.cut))
      if (read === undefined) return
      const { rcode } = checkUpdate(read, { ...view, isZone: () => true })
      expect([0, 1, 3, 6, 7, 8, 9, 10]).toContain(rcode)
    }),
    { numRuns: 500 },
  )
})
