// What a request of DNS over HTTPS asks for, by its headers.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readRequest } from '#server/stream/https-request.ts'

const path = '/dns-query'
const message = Buffer.alloc(12, 1)
const dns = message.toString('base64url')
const post = { ':method': 'POST', ':path': path, 'content-type': 'application/dns-message' }
const get = (parameters: string) => ({ ':method': 'GET', ':path': `${path}${parameters}` })

test.each([
  [get(`?dns=${dns}`), message],
  [get(`?a=b&dns=${dns}&dns=AA`), message],
  [get(`?dns=${Buffer.alloc(13).toString('base64url')}`), Buffer.alloc(13)],
  [post, 'body'],
  [{ ...post, 'content-type': 'Application/DNS-Message; charset=x' }, 'body'],
  [{ ...post, 'content-length': '65535' }, 'body'],
  [{ ...post, 'content-length': '65536' }, 'tooLarge'],
  [{ ...post, 'content-type': 'application/json' }, 'badType'],
  [{ ':method': 'POST', ':path': path }, 'badType'],
  [get(''), 'badRequest'],
  [get('?'), 'badRequest'],
  [get('?dns='), 'badRequest'],
  [get('?ddns=AAAA'), 'badRequest'],
  // Padded, of another alphabet, of no whole octets, shorter than a header.
  [get(`?dns=${Buffer.alloc(13).toString('base64')}`), 'badRequest'],
  [get(`?dns=${'+'.repeat(16)}`), 'badRequest'],
  [get(`?dns=${dns}A`), 'badRequest'],
  [get('?dns=AAAA'), 'badRequest'],
  [get(`?dns=${'A'.repeat(87_400)}`), 'tooLarge'],
  [{ ':method': 'HEAD', ':path': path }, 'badMethod'],
  [{ ':method': 'PUT', ':path': path }, 'badMethod'],
  [{ ':path': path }, 'badMethod'],
  [{ ':method': 'GET', ':path': '/' }, 'notFound'],
  [{ ':method': 'GET', ':path': `${path}/?dns=${dns}` }, 'notFound'],
  [{ ':method': 'CONNECT' }, 'notFound'],
])('%j is %j', (headers, expected) => {
  expect(readRequest(headers, path)).toEqual(expected)
})

test('whatever stands in the parameters, it is a message or refused', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (text, isValue) => {
      const asked = readRequest(get(isValue ? `?dns=${text}` : text), path)
      if (typeof asked === 'string') expect(['badRequest', 'notFound']).toContain(asked)
      else expect(asked.length).toBeGreaterThanOrEqual(12)
    }),
  )
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 12, maxLength: 600 }), (octets) => {
      const asked = readRequest(get(`?dns=${Buffer.from(octets).toString('base64url')}`), path)
      expect(Buffer.from(asked as Uint8Array)).toEqual(Buffer.from(octets))
    }),
  )
})
