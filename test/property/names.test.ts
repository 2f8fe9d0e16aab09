// Names and addresses: what holds for all of them.
import { isIP } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatAddress, parseAddress } from '#dns/address.ts'
import {
  foldName,
  foldTable,
  foldWord,
  formatName,
  hashName,
  labelOffsets,
  nameLimits,
  parseName,
} from '#dns/name.ts'
import { readMessageName } from '#dns/message-name.ts'
import { wholeRdata } from '#dns/message-rdata.ts'
import { RrType } from '#dns/rrtype.ts'
import { Counters } from '#answer/counters/counters.ts'
import { hashSuffixes, readQuestion } from '#answer/question.ts'
import { Transaction } from '#answer/transaction.ts'
import { octetsToAddress } from '#test/support/bundle-models.ts'
import { laneCount } from '#test/support/lane.ts'
import { anyText } from '#test/support/any-text.ts'

const settings = { udpPayloadSize: 1_232, nsid: '', versionBind: '', tcpIdleTimeoutMs: 10_000 }

const wireName = fc
  .array(fc.uint8Array({ minLength: 1, maxLength: 63 }), { maxLength: 12 })
  .map((labels) =>
    Buffer.concat([...labels.flatMap((l) => [Buffer.of(l.length), l]), Buffer.of(0)]),
  )
  .filter((wire) => wire.length <= nameLimits.bytesMax)

describe('names', () => {
  test('come back from their printed form, octet by octet', () => {
    fc.assert(
      fc.property(wireName, (wire) => {
        const parsed = parseName(formatName(wire))
        expect(parsed.ok && Buffer.compare(parsed.value, wire)).toBe(0)
      }),
    )
  })

  test('from any text are either refused or well formed, and print to the same name', () => {
    const text = fc.oneof(
      anyText({ maxLength: 300 }),
      fc
        .array(fc.constantFrom('a', 'B', '.', '\\', '0', '2', '5', '*', ' '))
        .map((c) => c.join('')),
    )
    fc.assert(
      fc.property(text, (written) => {
        const parsed = parseName(written)
        if (!parsed.ok) return
        const wire = parsed.value
        expect(wire.length).toBeLessThanOrEqual(nameLimits.bytesMax)
        const offsets = labelOffsets(wire)
        for (const offset of offsets) {
          expect(wire[offset]).toBeGreaterThan(0)
          expect(wire[offset]).toBeLessThanOrEqual(nameLimits.labelBytesMax)
        }
        const last = offsets.at(-1)
        expect(last === undefined ? 1 : last + wire[last]! + 2).toBe(wire.length)
        const again = parseName(formatName(wire))
        expect(again.ok && Buffer.compare(again.value, wire)).toBe(0)
      }),
    )
  })

  test('in another letter case fold to the same octets; folding twice changes nothing', () => {
    fc.assert(
      fc.property(wireName, fc.infiniteStream(fc.boolean()), (wire, coins) => {
        const folded = foldName(wire)
        const inLabel = new Set(
          labelOffsets(wire).flatMap((at) =>
            Array.from({ length: wire[at]! }, (_, i) => at + 1 + i),
          ),
        )
        const other = folded.map((octet, i) => {
          const isLetter = octet >= 0x61 && octet <= 0x7a && inLabel.has(i)
          return isLetter && coins.next().value ? octet - 0x20 : octet
        })
        expect(foldName(other)).toEqual(folded)
        expect(foldName(folded)).toEqual(folded)
      }),
    )
  })

  test('are copied by folding, from a buffer too: it keeps the octets it had', () => {
    fc.assert(
      fc.property(wireName, (wire) => {
        const before = wire.toString('hex')
        const folded = foldName(wire)
        folded.fill(0)
        expect(wire.toString('hex')).toBe(before)
      }),
    )
  })

  test('and data in a message are copied out of it, whatever the type', () => {
    const types = fc.constantFrom(RrType.A, RrType.TXT, RrType.NS, RrType.MX, RrType.SOA)
    fc.assert(
      fc.property(types, wireName, fc.nat(40), (type, wire, before) => {
        // Enough for two names, and for what stands before one.
        const message = Buffer.concat([Buffer.alloc(before), Buffer.of(0, 1), wire, wire])
        const copy = Buffer.from(message)
        for (const start of [before, before + 2]) {
          wholeRdata(message, type, start, message.length)?.fill(0xff)
          readMessageName(message, start)?.wire.fill(0xff)
        }
        expect(message).toEqual(copy)
      }),
    )
  })

  test('fold four octets at a time as one at a time', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 4, maxLength: 4 }), (octets) => {
        const word = foldWord(Buffer.from(octets).readInt32LE())
        expect([0, 8, 16, 24].map((shift) => (word >>> shift) & 0xff)).toEqual(
          [...octets].map((octet) => foldTable[octet]),
        )
      }),
      { numRuns: laneCount(2_000) },
    )
  })

  test('have the hash that a lookup makes of them, wherever they stand', () => {
    fc.assert(
      fc.property(wireName, fc.integer(), fc.nat(7), (wire, seed, before) => {
        const tx = new Transaction(settings, 1, new Counters(new SharedArrayBuffer(Counters.bytes)))
        tx.nameSeed = seed | 0
        const query = Buffer.concat([Buffer.alloc(12 + before), wire, Buffer.of(0, 1, 0, 1)])
        tx.bind(query, query)
        expect(readQuestion(tx, query, 12 + before, query.length)).toBe(query.length)
        const name = foldName(wire)
        expect(tx.qname.subarray(tx.qnameStart)).toEqual(new Uint8Array(name))
        expect(tx.qnameHash).toBe(hashName(name, seed))
        hashSuffixes(tx, nameLimits.labelsMax)
        const starts = [...labelOffsets(name), name.length - 1]
        for (const [label, start] of starts.entries()) {
          expect(tx.suffixHash[label]).toBe(hashName(name.subarray(start), seed))
        }
      }),
    )
  })

  test('that meet under one seed part under the next', () => {
    const hashesUnder = (seed: number): number[] => names.map((name) => hashName(name, seed))
    const names = Array.from({ length: 150_000 }, (_, i) =>
      Uint8Array.of(8, ...Buffer.from(String(i).padStart(8, 'x')), 3, 0x6f, 0x72, 0x67, 0),
    )
    const [one, two] = [hashesUnder(1), hashesUnder(2)]
    const seen = new Map<number, number>()
    const pairs: (readonly [number, number])[] = []
    for (const [i, hash] of one.entries()) {
      const other = seen.get(hash)
      if (other === undefined) seen.set(hash, i)
      else pairs.push([other, i])
    }
    expect(pairs.length).toBeGreaterThan(0)
    for (const [a, b] of pairs) expect(two[a]).not.toBe(two[b])
  })

  test('spread over the slots of an index like random numbers', () => {
    const slots = 1 << 14
    const perSlot = new Uint16Array(slots)
    for (let i = 0; i < slots; i++) {
      const name = parseName(`host-${i}.pop${i % 7}.example.org.`)
      if (name.ok) perSlot[hashName(name.value, 1) & (slots - 1)]! += 1
    }
    const used = perSlot.filter((count) => count > 0).length / slots
    // Random numbers fill 1 - 1/e of the slots.
    expect(Math.abs(used - (1 - 1 / Math.E))).toBeLessThan(0.02)
  })
})

describe('addresses', () => {
  const octets = fc.oneof(
    fc.uint8Array({ minLength: 4, maxLength: 4 }),
    fc.uint8Array({ minLength: 16, maxLength: 16 }),
    fc
      .array(fc.constantFrom(0, 0, 0, 1, 255), { minLength: 16, maxLength: 16 })
      .map((a) => Uint8Array.from(a)),
  )

  test('come back from both their printed forms', () => {
    fc.assert(
      fc.property(octets, (address) => {
        for (const text of [formatAddress(address), octetsToAddress(address)]) {
          expect(isIP(text)).toBe(address.length === 4 ? 4 : 6)
          const parsed = parseAddress(text)
          expect(parsed.ok && Buffer.compare(parsed.value, address)).toBe(0)
        }
      }),
    )
  })

  test('print in the form that the URL standard prints, which is the canonical one', () => {
    fc.assert(
      fc.property(octets, (address) => {
        if (address.length === 4) return
        expect(`[${formatAddress(address)}]`).toBe(
          new URL(`http://[${octetsToAddress(address)}]/`).hostname,
        )
      }),
    )
  })

  test('are what the system takes for an address, zone identifiers apart', () => {
    const scraps = fc.constantFrom(
      '0',
      '1',
      '255',
      '256',
      '01',
      '.',
      ':',
      '::',
      'f',
      'ffff',
      'g',
      ' ',
    )
    const text = fc.oneof(
      fc.array(scraps, { maxLength: 20 }).map((parts) => parts.join('')),
      fc
        .tuple(octets, fc.nat(), fc.constantFrom('', ':', '.', '0', ' '))
        .map(([address, at, scrap]) => {
          const good = octetsToAddress(address)
          const place = at % (good.length + 1)
          return good.slice(0, place) + scrap + good.slice(place)
        }),
    )
    fc.assert(
      fc.property(text, (written) => {
        expect(parseAddress(written).ok).toBe(isIP(written) !== 0)
      }),
      { numRuns: laneCount(2_000) },
    )
  })
})
