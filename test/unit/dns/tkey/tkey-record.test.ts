// Tests the reader and the writer of TKEY records with collected messages, good and hostile.
import fc from 'fast-check'
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readTkey, tkeyBytes, writeTkey } from '#dns/tkey/tkey-record.ts'
import type { TkeyRecord } from '#dns/tkey/tkey-record.ts'
import { Random } from '#lib/random.ts'
import { encodeMessage } from '#test/support/dns/message.ts'
import { wireName } from '#test/support/dns/wire-name.ts'
import { mutated } from '../../../fuzz/targets/mutator.ts'

const folder = new URL('../../../fuzz/corpus/tkey/', import.meta.url)
/** By file name. In the files what follows a `#` means nothing. */
const corpus = new Map(
  readdirSync(folder).map((file) => {
    const hex = readFileSync(new URL(file, folder), 'utf8').replace(/#.*|\s+/g, '')
    return [file.replace('.hex', ''), Buffer.from(hex, 'hex')]
  }),
)

const nsupdate: TkeyRecord = {
  keyName: wireName('1234.sig-ns1.example.com.'),
  algorithmName: wireName('gss-tsig.'),
  ...{ inceptionSeconds: 0x6b03c040, expirationSeconds: 0x6b03ce50, mode: 3, error: 0 },
  key: Uint8Array.from(Buffer.from('token')),
}

const read: readonly [string, Partial<TkeyRecord>][] = [
  ...['as-nsupdate', 'with-opt', 'in-answer', 'name-in-capitals', 'other-of-five'].map(
    (name): [string, Partial<TkeyRecord>] => [name, {}],
  ),
  ['algorithm-compressed', { keyName: wireName('gss-tsig.') }],
  ['delete', { mode: 5, key: new Uint8Array(0) }],
  ['mode-diffie-hellman', { mode: 2 }],
  ['mode-65535', { mode: 65_535 }],
  ['algorithm-hmac', { algorithmName: wireName('hmac-sha256.') }],
  ['name-is-root', { keyName: Uint8Array.of(0) }],
  ['key-empty', { key: new Uint8Array(0) }],
  ['times-max', { inceptionSeconds: 0xffffffff, expirationSeconds: 0xffffffff }],
  ['key-of-2000', { key: new Uint8Array(2_000).fill(0x60) }],
]
test.each(read)('the collected message %s is read', (name, fields) => {
  expect(readTkey(corpus.get(name)!)).toEqual({ ...nsupdate, ...fields })
})

test('the record of any other collected message is not taken', () => {
  const good = [...read.map(([name]) => name), 'spnego-without-token']
  for (const [name, message] of corpus) {
    if (!good.includes(name)) expect([name, readTkey(message)]).toEqual([name, undefined])
  }
})

test('what is written is read again', () => {
  const octets = (maxLength: number) => fc.uint8Array({ maxLength })
  const word = fc.nat(0xffff)
  const times = fc.nat(0xffffffff)
  const record = fc.record({
    ...{ keyName: fc.constantFrom('k.example.', 'a.b.c.d.e.'), algorithmName: fc.constant('gss.') },
    ...{ inceptionSeconds: times, expirationSeconds: times, mode: word, error: word },
    key: octets(300),
  })
  fc.assert(
    fc.property(record, ({ keyName, algorithmName, ...rest }) => {
      const written = {
        ...{ keyName: wireName(keyName), algorithmName: wireName(algorithmName) },
        ...rest,
      }
      const question = { name: keyName, type: 249, class: 255 }
      const head = encodeMessage({ id: 1, opcode: 0, questions: [question] })
      const message = Buffer.concat([head, Buffer.alloc(tkeyBytes(written))])
      expect(writeTkey(message, head.length, written)).toBe(message.length)
      message.writeUInt16BE(1, 10)
      expect(readTkey(message)).toEqual(written)
    }),
    { numRuns: 200 },
  )
})

test('any octets are read without an exception, and within them', () => {
  const random = new Random(7)
  const bases = [...corpus.values()]
  for (let i = 0; i < 5_000; i++) {
    const message = mutated(bases, random)
    const found = readTkey(message)
    if (found !== undefined) expect(found.key.length).toBeLessThan(message.length)
  }
})
