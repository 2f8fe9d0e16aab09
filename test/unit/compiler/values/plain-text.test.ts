import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { contentOf, plainName, plainValue } from '#compiler/values/plain-text.ts'

const valueOf = (type: string, text: string) => {
  const read = plainValue(type, text)
  return read.ok ? [read.value.text, read.value.written] : read.error
}

describe('a value in plain form, and as a file has it', () => {
  const rows: readonly [type: string, text: string, plain: string, written: string][] = [
    ['A', '192.0.2.1', '192.0.2.1', '192.0.2.1'],
    ['AAAA', '2001:DB8:0::1', '2001:db8::1', '2001:db8::1'],
    ['CNAME', 'LB.Example.net', 'lb.example.net', 'lb.example.net.'],
    ['CNAME', 'lb.example.net.', 'lb.example.net', 'lb.example.net.'],
    ['MX', '10 Mail.example.net', '10 mail.example.net', '10 mail.example.net.'],
    ['MX', '0 .', '0 .', '0 .'],
    [
      'SRV',
      '0 50 5060 sip.example.net',
      '0 50 5060 sip.example.net.',
      '0 50 5060 sip.example.net.',
    ],
    [
      'SRV',
      '0 50 5060 sip.example.net.',
      '0 50 5060 sip.example.net.',
      '0 50 5060 sip.example.net.',
    ],
    ['NS', 'ns1.example.net', 'ns1.example.net', 'ns1.example.net.'],
    ['TXT', 'v=spf1 -all', '"v=spf1 -all"', '"v=spf1 -all"'],
    ['TXT', '"v=spf1 -all"', '"v=spf1 -all"', '"v=spf1 -all"'],
    ['TXT', '"one " "two"', '"one two"', '"one two"'],
    ['TXT', 'say "hi" \\o/', '"say \\"hi\\" \\\\o/"', '"say \\"hi\\" \\\\o/"'],
    ['TXT', '"a"b"', '"a\\"b"', '"a\\"b"'],
    ['TXT', 'grün', '"grün"', '"gr\\195\\188n"'],
    ['TXT', '"\\255\\000"', '"\\255\\000"', '"\\255\\000"'],
    ['TXT', '"a\\010b"', '"a\\010b"', '"a\\010b"'],
    ['TXT', '', '""', '""'],
    ['TXT', '"', '"\\""', '"\\""'],
    ['TXT', 'x'.repeat(300), `"${'x'.repeat(300)}"`, `"${'x'.repeat(255)}" "${'x'.repeat(45)}"`],
  ]
  test.each(rows)('%s %j', (type, text, plain, written) => {
    expect(valueOf(type, text)).toEqual([plain, written])
  })

  test.each([
    ['A', '2001:db8::1'],
    ['A', 'lb.example.net'],
    ['MX', 'mail.example.net'],
    ['SRV', '0 50 sip.example.net'],
    ['CNAME', 'a b'],
    ['NOTHING', '1'],
  ])('%s %j is none', (type, text) => {
    expect(valueOf(type, text)).toEqual(expect.any(String))
  })
})

test('any text comes back as it went, and its plain form is one form', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 700 }), (content) => {
      const escaped = content.replaceAll(/["\\]/g, '\\$&')
      const read = plainValue('TXT', `"${escaped}"`)
      if (!read.ok) throw new Error(read.error)
      expect(contentOf(read.value.text)).toBe(content)
      expect(valueOf('TXT', read.value.text)).toEqual([read.value.text, read.value.written])
      expect(valueOf('TXT', read.value.written)).toEqual([read.value.text, read.value.written])
    }),
  )
})

test('any octets of a target are read, or refused with a sentence', () => {
  const types = ['A', 'AAAA', 'CNAME', 'MX', 'NAPTR', 'NS', 'PTR', 'SRV', 'TXT']
  fc.assert(
    fc.property(fc.constantFrom(...types), fc.string({ unit: 'binary' }), (type, text) => {
      const read = plainValue(type, text)
      if (read.ok)
        expect(valueOf(type, read.value.text)).toEqual([read.value.text, read.value.written])
      else expect(read.error).not.toBe('')
    }),
  )
})

test.each([
  ['WWW.Example.com', 'www.example.com.'],
  ['*.example.com.', '*.example.com.'],
  ['a-*.example.com', 'a-*.example.com.'],
  ['_sip._tcp.example.com', '_sip._tcp.example.com.'],
  ['', undefined],
  ['.', undefined],
  ['a..b', undefined],
  ['grün.example', undefined],
])('the name %j is %s', (text, name) => {
  expect(plainName(text)).toBe(name)
})
