import { describe, expect, test } from 'vitest'
import { formatAddress, isMappedIpv4, parseAddress } from '#dns/address.ts'

const canonical = (text: string): string => {
  const octets = parseAddress(text)
  return octets.ok ? formatAddress(octets.value) : octets.error
}

describe('an address has one printed form', () => {
  /** RFC 5952 section 4, example by example. */
  const rows: readonly [written: string, printed: string][] = [
    ['192.0.2.1', '192.0.2.1'],
    ['0.0.0.0', '0.0.0.0'],
    ['255.255.255.255', '255.255.255.255'],
    ['2001:0db8::0001', '2001:db8::1'],
    ['2001:db8:0:0:0:0:2:1', '2001:db8::2:1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['2001:DB8::ABCD', '2001:db8::abcd'],
    ['0:0:0:0:0:0:0:0', '::'],
    ['::1', '::1'],
    ['1::', '1::'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
    ['::2:3:4:5:6:7:8', '0:2:3:4:5:6:7:8'],
    ['::ffff:192.0.2.1', '::ffff:c000:201'],
    ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
    ['1:2:3:4:5:6:1.2.3.4', '1:2:3:4:5:6:102:304'],
  ]
  test.each(rows)('%s is %s', (written, printed) => {
    expect(canonical(written)).toBe(printed)
  })
})

describe('a text that is not an address is refused', () => {
  const rows = [
    '',
    '.',
    ':',
    ':::',
    '1.2.3',
    '1.2.3.4.5',
    '256.0.0.1',
    '01.2.3.4',
    '1.2.3.4 ',
    '0x7f.0.0.1',
    '1e2.0.0.1',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4::5:6:7:8',
    '1::2::3',
    '12345::',
    ':1::',
    '1:2:3:4:5:6:7:1.2.3.4',
    '1.2.3.4::',
    '::1.2.3',
    '::1.2.3.4:5',
    'fe80::1%eth0',
    '::g',
    '٣.1.1.1',
  ]
  test.each(rows)('%j', (text) => {
    expect(parseAddress(text)).toEqual({ ok: false, error: 'not-an-address' })
  })
})

describe('an IPv4 address in IPv6 form', () => {
  const rows: readonly [text: string, isMapped: boolean][] = [
    ['::ffff:192.0.2.1', true],
    ['::ffff:0:0', true],
    ['::ffff:0:0:1', false],
    ['::192.0.2.1', false],
    ['1::ffff:192.0.2.1', false],
    ['192.0.2.1', false],
  ]
  for (const [text, isMapped] of rows) {
    test(`${text} is ${isMapped ? 'one' : 'none'}`, () => {
      const octets = parseAddress(text)
      expect(octets.ok && isMappedIpv4(octets.value)).toBe(isMapped)
    })
  }
})
