// The header of the PROXY protocol: what is read of it, what is refused, and the collected ones.
import { readFileSync, readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { formatAddress } from '#dns/address.ts'
import { crc32c } from '#system/sockets/crc32c.ts'
import { ProxyHeader, ProxyRead, proxyHeaderBytesMax } from '#system/sockets/proxy-header.ts'
import { localHeader, proxyHeader } from '#test/support/proxy-writer.ts'

const corpus = new URL('../../../fuzz/corpus/proxy-header/', import.meta.url)

/** `client ADDRESS PORT`, `own`, or why it was not read. */
function said(octets: Uint8Array): string {
  const header = new ProxyHeader()
  const read = header.read(octets, 0, octets.length)
  if (read === ProxyRead.Unfinished) return 'unfinished'
  if (read === ProxyRead.Absent) return 'absent'
  if (read === ProxyRead.Malformed) return 'malformed'
  expect(read).toBe(octets.length)
  if (!header.isClient) return 'own'
  return `client ${formatAddress(header.address)} ${header.port}`
}

test('the checksum is the one of RFC 3720', () => {
  const zeros = new Uint8Array(32)
  expect(crc32c(zeros, 0, 32, 32).toString(16)).toBe((0x8a91_36aa | 0).toString(16))
  const text = Buffer.from('123456789')
  expect(crc32c(text, 0, 9, 9) >>> 0).toBe(0xe306_9283)
})

test.each([
  ['IPv4', proxyHeader('192.0.2.9', 5_353), 'client ::ffff:c000:209 5353'],
  ['IPv6', proxyHeader('2001:db8::9', 65_535), 'client 2001:db8::9 65535'],
  ['LOCAL', localHeader(), 'own'],
])('a header of %s is read', (_what, octets, expected) => {
  expect(said(octets)).toBe(expected)
})

test('octets after a header are not part of it', () => {
  const octets = proxyHeader('192.0.2.9', 1)
  const header = new ProxyHeader()
  const more = Buffer.concat([Buffer.from('before'), octets, Buffer.from('behind')])
  expect(header.read(more, 6, more.length)).toBe(octets.length)
})

describe('the collected headers', () => {
  const names = readdirSync(corpus)
  test.each(names)('%s', (name) => {
    const text = readFileSync(new URL(name, corpus), 'latin1')
    const octets = Buffer.from(text.replaceAll('\n', ''), 'hex')
    // A name says what becomes of it first.
    expect(said(octets).split(' ')[0]).toBe(name.split(/[-.]/)[0])
  })
})

test('the longest header is as long as the limit says', () => {
  const name = new URL('client-as-long-as-it-may-be.hex', corpus)
  const octets = Buffer.from(readFileSync(name, 'latin1').replaceAll('\n', ''), 'hex')
  expect(octets).toHaveLength(proxyHeaderBytesMax)
})
