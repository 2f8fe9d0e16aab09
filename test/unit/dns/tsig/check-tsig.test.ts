import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ReplyCheck } from '#dns/tsig/check-replies.ts'
import { checkTsig } from '#dns/tsig/check-tsig.ts'
import { TsigError } from '#dns/tsig/tsig-key.ts'
import { readTsig } from '#dns/tsig/tsig-record.ts'
import { tsigAlgorithms } from '#dns/tsig/tsig-algorithms.ts'
import { MessageSigner, tsigBytesMax } from '#dns/tsig/sign-message.ts'
import { corpusMessage, corpusSeconds, findIn, keyOf, tsigCorpus } from './tsig-corpus.ts'

const key = keyOf('key.example.')
const find = findIn(key)
const signedQuery = () => corpusMessage('signed-by-dig')

describe('a message signed by', () => {
  test.each([
    ['dig', 'signed-by-dig', 'hmac-sha256.'],
    ['kdig', 'signed-by-kdig', 'hmac-sha512.'],
    ['nsupdate', 'signed-by-nsupdate', 'hmac-sha256.'],
  ])('%s is taken', (_program, file, algorithm) => {
    const own = keyOf('key.example.', algorithm)
    const check = checkTsig(corpusMessage(file), findIn(own), corpusSeconds)
    expect(check).toMatchObject({ is: 'signed', key: own, record: { fudgeSeconds: 300 } })
  })
})

test('a message without the record is unsigned, an update with 255 others as well', () => {
  const header = Buffer.from('b14001200001000000000000', 'hex')
  const question = Buffer.from('\x07example\x03com\0\0\x06\0\x01', 'latin1')
  expect(checkTsig(Buffer.concat([header, question]), find, 0)).toEqual({ is: 'unsigned' })
})

describe('RFC 8945 section 5.2', () => {
  /** Changes the message before it is checked. */
  type Change = (message: Buffer) => void
  const rows: readonly [string, Change, number, object][] = [
    ['names of keys and algorithms have no letter case', (m) => upper(m, 'key', 'hmac'), 0, {}],
    ['the ID may have been changed by a forwarder', (m) => m.writeUInt16BE(7, 0), 0, {}],
    ['a changed octet', (m) => m.writeUInt8(0x78, 13), 0, unproven(TsigError.BadSig)],
    ['a changed flag', (m) => m.writeUInt8(0x00, 2), 0, unproven(TsigError.BadSig)],
    ['another original ID', (m) => m.writeUInt8(9, m.length - 6), 0, unproven(TsigError.BadSig)],
    ['another key name', (m) => rename(m, 'key', 'kez'), 0, unproven(TsigError.BadKey)],
    ['another algorithm', (m) => rename(m, '256', '384'), 0, unproven(TsigError.BadKey)],
    ['300 seconds late', () => {}, 300, {}],
    ['300 seconds early', () => {}, -300, {}],
    ['301 seconds late', () => {}, 301, { is: 'refused', error: TsigError.BadTime }],
    ['301 seconds early', () => {}, -301, { is: 'refused', error: TsigError.BadTime }],
    // A sender without the key learns nothing of the clock.
    ['late and changed', (m) => m.writeUInt8(1, 13), 301, unproven(TsigError.BadSig)],
  ]
  test.each(rows)('%s', (_name, change, lateSeconds, expected) => {
    const message = signedQuery()
    change(message)
    const check = checkTsig(message, find, corpusSeconds + lateSeconds)
    expect(check).toMatchObject({ is: 'signed', ...expected })
  })

  test.each([
    [4, 4, 'signed'],
    [4, 5, 'refused'],
    // The document allows no more than 300, whatever the client would.
    [65_535, 301, 'refused'],
  ])('a fudge of %i at a skew of %i: %s', (fudgeSeconds, skewSeconds, is) => {
    const message = signedWith(fudgeSeconds)
    expect(checkTsig(message, find, corpusSeconds + skewSeconds).is).toBe(is)
  })

  test.each([
    [32, 'signed', undefined],
    [31, 'refused', TsigError.BadTrunc],
    [16, 'refused', TsigError.BadTrunc],
    [15, 'malformed', undefined],
    [0, 'malformed', undefined],
  ])('a right MAC cut to %i octets: %s', (macBytes, is, error) => {
    const check = checkTsig(truncated(macBytes), find, corpusSeconds)
    expect(check.is).toBe(is)
    expect('error' in check ? check.error : undefined).toBe(error)
  })

  test('a wrong MAC cut to 16 octets is wrong, and not too short', () => {
    const message = truncated(16)
    message.writeUInt8(message.readUInt8(13) ^ 1, 13)
    expect(checkTsig(message, find, corpusSeconds)).toMatchObject(unproven(TsigError.BadSig))
  })
})

test.each(tsigAlgorithms.map((row) => [row.name] as const))('%s is taken', (algorithm) => {
  const own = keyOf('key.example.', algorithm)
  const message = signed(own)
  expect(checkTsig(message, findIn(own), corpusSeconds).is).toBe('signed')
})

const malformed = [
  ...['twice', 'before-opt', 'in-answer', 'in-authority', 'class-in', 'ttl-one', 'empty-data'],
  ...['octets-behind', 'data-beyond-message', 'mac-beyond-data', 'mac-empty', 'header-only'],
  ...['mac-of-nine-octets', 'mac-of-33-octets', 'other-beyond-data', 'octets-behind-other'],
  ...['algorithm-compressed', 'algorithm-without-end', 'key-points-to-itself', 'counts-65535'],
  ...['key-points-forward', 'key-of-256-octets'],
]
test.each(malformed)('the collected message %s is FORMERR', (name) => {
  expect(checkTsig(corpusMessage(name), find, corpusSeconds)).toEqual({ is: 'malformed' })
})

test('no collected message is taken but those that were signed', () => {
  for (const [name, message] of tsigCorpus) {
    const check = checkTsig(message, find, corpusSeconds)
    expect(check.is === 'signed', name).toBe(/^signed-by-(?:dig|nsupdate)$/.test(name))
  }
})

test('any octets are read without an exception, and none is taken', () => {
  const messages = [...tsigCorpus.values()]
  const change = fc.record({ at: fc.nat(250), octet: fc.nat(255), cut: fc.nat(400) })
  fc.assert(
    fc.property(fc.constantFrom(...messages), fc.array(change, { minLength: 1 }), (base, all) => {
      const message = Buffer.from(base)
      for (const { at, octet } of all) if (at < message.length) message.writeUInt8(octet, at)
      const cut = message.subarray(0, all[0]!.cut)
      const isSame = messages.some((known) => known.equals(cut))
      const check = checkTsig(cut, find, corpusSeconds)
      const record = readTsig(cut)
      if (record !== null && record !== 'malformed') expect(record.at).toBeLessThan(cut.length)
      // The ID is not covered by the MAC, and neither is the letter case of the names.
      if (check.is === 'signed' && !isSame) expect(readsAsSigned(cut)).toBe(true)
    }),
    { numRuns: 500 },
  )
})

test('a message of pointers to pointers costs no more than its length', () => {
  // 8 000 pointers, each to the one before, as the owner of 5 000 records.
  const chain = Buffer.alloc(16_000, 0)
  for (let i = 1; i < 8_000; i++) chain.writeUInt16BE(0xc000 | (12 + 2 * (i - 1)), 2 * i)
  const records = Buffer.concat(Array(3_000).fill(Buffer.from('fe8a00fa00ff000000000000', 'hex')))
  const header = Buffer.from('b14001200000000000000bb8', 'hex')
  expect(readTsig(Buffer.concat([header, chain, records]))).toBe('malformed')
})

describe('RFC 8945 section 5.3.1: messages without a signature', () => {
  const message = Buffer.alloc(300)
  test('are 99 between two that have one, and no more', () => {
    const signer = new MessageSigner(key, Buffer.alloc(32))
    signer.sign(message, 12, corpusSeconds)
    for (let i = 0; i < 99; i++) signer.skip(message, 12)
    expect(() => signer.skip(message, 12)).toThrow('would wait no longer')
    signer.sign(message, 12, corpusSeconds)
    expect(() => signer.skip(message, 12)).not.toThrow()
  })

  test('are none before the first that has one', () => {
    expect(() => new MessageSigner(key, Buffer.alloc(32)).skip(message, 12)).toThrow('is signed')
  })
})

function unproven(error: number) {
  return { is: 'unproven', error }
}

function rename(message: Buffer, from: string, to: string): void {
  message.write(to, message.lastIndexOf(from), 'latin1')
}

function upper(message: Buffer, ...words: readonly string[]): void {
  for (const word of words) rename(message, word, word.toUpperCase())
}

/** All but the ID, which the MAC does not cover, and letter case, as in the names of the record. */
function readsAsSigned(message: Buffer): boolean {
  const signedNames = ['signed-by-dig', 'signed-by-nsupdate']
  return signedNames.some((name) => covered(corpusMessage(name)) === covered(message))
}

const covered = (message: Buffer): string => message.toString('latin1', 2).toLowerCase()

/** The message of dig, signed by ourselves. */
function signed(own = key): Buffer {
  const message = Buffer.alloc(200)
  const length = unsignedQuery().copy(message)
  expect(tsigBytesMax(own)).toBeLessThan(160)
  return message.subarray(0, new MessageSigner(own).sign(message, length, corpusSeconds))
}

function unsignedQuery(): Buffer {
  const query = signedQuery().subarray(0, 29)
  query.writeUInt16BE(0, 10)
  return query
}

const variablesOf = (fudgeSeconds: number): Buffer => {
  const times = Buffer.alloc(8)
  times.writeUIntBE(corpusSeconds, 0, 6)
  times.writeUInt16BE(fudgeSeconds, 6)
  return times
}

/** Written apart from `MessageSigner`, after RFC 8945 section 4.3. */
function signedWith(fudgeSeconds: number, macBytes = 32): Buffer {
  const query = unsignedQuery()
  const names = [Buffer.from(key.name), Buffer.from(key.algorithm.wire)] as const
  const [owner, algorithm] = names
  const times = variablesOf(fudgeSeconds)
  const classAndTtl = Buffer.from('00ff00000000', 'hex')
  const digested = [query, owner, classAndTtl, algorithm, times, Buffer.alloc(4)]
  const mac = createHmac('sha256', key.secret).update(Buffer.concat(digested)).digest()
  const sent = mac.subarray(0, macBytes)
  const rest = [algorithm, times, uint16(macBytes), sent, query.subarray(0, 2), Buffer.alloc(4)]
  const data = Buffer.concat(rest)
  const head = [owner, Buffer.from('00fa00ff00000000', 'hex'), uint16(data.length)]
  query.writeUInt16BE(1, 10)
  return Buffer.concat([query, ...head, data])
}

const truncated = (macBytes: number): Buffer => signedWith(300, macBytes)

function uint16(value: number): Buffer {
  return Buffer.from([value >> 8, value & 0xff])
}

test('buffers that are used again change no message that was signed, taken or read in them', () => {
  const messages = fc.array(fc.uint8Array({ minLength: 4, maxLength: 4 }), { minLength: 2 })
  fc.assert(
    fc.property(messages, (heads) => {
      const signer = new MessageSigner(key, Buffer.alloc(32))
      const check = new ReplyCheck(key, Buffer.alloc(32))
      for (const [i, head] of heads.entries()) {
        const message = Buffer.alloc(12 + tsigBytesMax(key))
        message.set(head)
        const isSigned = i === 0 || i === heads.length - 1
        let length = 12
        if (isSigned) length = signer.sign(message, 12, corpusSeconds)
        else signer.skip(message, 12)
        const taken = Buffer.from(message.subarray(0, length))
        const record = readTsig(taken)
        if (record !== null && record !== 'malformed') record.mac.fill(0)
        expect(check.take(taken, corpusSeconds)).toEqual({ ok: true, value: null })
        message.fill(1)
        taken.fill(2)
      }
      expect(check.isSigned).toBe(true)
    }),
  )
})
