// Tests the messages between a process and its successor: each reads them strictly, as the other
// may have another version.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lineOf, protocol, readHello, readOffer, stepOf } from '#process/replace/messages.ts'
import { parseJson } from '#lib/text/json.ts'

const hello = { protocol, pid: 7, uid: 1000, cgroup: '0::/\n' }
const offer = {
  pid: 7,
  isServing: true,
  sockets: [{ name: 'dns-udp 127.0.0.1 53', count: 2 }],
  variables: { NOTIFY_SOCKET: '/run/notify' },
}

test('a line is read as it was written', () => {
  expect(readHello(parseJson(lineOf(hello).toString()))).toEqual({ ok: true, value: hello })
  expect(readOffer(parseJson(lineOf(offer).toString()))).toEqual({ ok: true, value: offer })
  expect(stepOf(parseJson(lineOf({ step: 'gone' }).toString()))).toBe('gone')
})

test.each([
  ['another version', { ...hello, protocol: protocol + 1 }, 'do not understand each other'],
  ['no process', { ...hello, pid: 0 }, 'not understood'],
  ['a user that is no number', { ...hello, uid: 'root' }, 'not understood'],
  ['nothing', undefined, 'do not understand each other'],
])('a successor is refused: %s', (_title, value, says) => {
  expect(readHello(value)).toEqual({ ok: false, error: expect.stringContaining(says) as string })
})

test.each([
  ['a refusal', { refused: 'it is just ending' }, 'it is just ending'],
  ['no sockets', { ...offer, sockets: [] }, 'not understood'],
  ['a socket without a name', { ...offer, sockets: [{ count: 1 }] }, 'not understood'],
  ['no word of a bundle', { ...offer, isServing: 1 }, 'not understood'],
])('an answer is no offer: %s', (_title, value, says) => {
  expect(readOffer(value)).toEqual({ ok: false, error: expect.stringContaining(says) as string })
})

test('any value is read or refused, and never throws', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(typeof readHello(value).ok).toBe('boolean')
      expect(typeof readOffer(value).ok).toBe('boolean')
      expect(typeof stepOf(value)).toBe('string')
    }),
  )
})
