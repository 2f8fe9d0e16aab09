// A session of HTTP/2 as its listener sees it: bounds, faults of a listener, and the ways to end.
import { expect, test } from 'vitest'
import { fieldBlock, frame, opening } from '#bench/load/https-frames.ts'
import { httpsLimits } from '#server/stream/https-limits.ts'
import { Http2Engine, Http2Error } from '#system/http2/http2-session.ts'
import type { Http2Listener } from '#system/http2/http2-session.ts'

const engine = new Http2Engine(httpsLimits)
const quiet: Http2Listener = {
  onBegin: () => true,
  onHeader: () => undefined,
  onHeaders: () => undefined,
  onBody: () => undefined,
  onEnd: () => undefined,
  onReplied: () => undefined,
  onClose: () => undefined,
  onControl: () => true,
  onRefused: () => true,
  onInvalid: () => true,
}
const Type = { Data: 0, Headers: 1, Reset: 3, GoAway: 7 } as const
/** RFC 9113 section 7. */
const protocolError = 1
const Flag = { EndStream: 1, EndHeaders: 4 } as const
const request = [
  ...[[':method', 'GET'] as const, [':scheme', 'https'] as const],
  ...[[':path', '/x'] as const, [':authority', 'ns.example'] as const],
]
const asks = (stream: number, more: readonly (readonly [string, string])[] = []): Buffer =>
  frame(Type.Headers, Flag.EndHeaders | Flag.EndStream, stream, fieldBlock([...request, ...more]))

/** Type and stream of each frame, and the last word of RST_STREAM and GOAWAY. */
function framesOf(octets: Buffer | undefined): readonly (readonly number[])[] {
  const frames: number[][] = []
  for (let at = 0; octets !== undefined && at < octets.length;) {
    const [bytes, type] = [octets.readUIntBE(at, 3), octets[at + 3]!]
    const code = type === Type.Reset || type === Type.GoAway
    const word = code ? [octets.readUInt32BE(at + 9 + (type === Type.Reset ? 0 : 4))] : []
    frames.push([type, octets.readUInt32BE(at + 5), ...word])
    at += 9 + bytes
  }
  return frames
}

const fields = (value: string): (readonly [string, string])[] =>
  Array.from({ length: httpsLimits.headersMax }, (_, i) => [`x${i}`, value] as const)
const long = 'y'.repeat(httpsLimits.headerBytesMax - 100)

test.each([
  ['fields', fields('1'), Http2Error.EnhanceYourCalm],
  ['octets', [['x', long] as const], Http2Error.EnhanceYourCalm],
  ['fields that nghttp2 passes over', fields('\u0001'), protocolError],
  ['octets that nghttp2 passes over', [['x', `${long}\u0001`] as const], protocolError],
] as const)('headers of too many %s are refused, and the next request is heard', (_, more, why) => {
  const heard: number[] = []
  const session = engine.open({ ...quiet, onEnd: (stream) => heard.push(stream) })
  const parts = [opening(), asks(1, more), asks(3)]
  expect(session.take(Buffer.concat(parts))).toBe(true)
  expect(heard).toEqual([3])
  expect(framesOf(session.output())).toContainEqual([Type.Reset, 1, why])
  session.free()
})

test('a field that breaks the protocol is passed over', () => {
  const heard: number[] = []
  const session = engine.open({ ...quiet, onEnd: (stream) => heard.push(stream) })
  expect(session.take(Buffer.concat([opening(), asks(1, [['x', '\u0001']])]))).toBe(true)
  expect(heard).toEqual([1])
  session.free()
})

test('streams beyond those that may be open are refused, also before a client knows', () => {
  const { streamsMax } = httpsLimits
  let refused = 0
  const session = engine.open({ ...quiet, onRefused: () => ++refused < 3 })
  const all = Array.from({ length: streamsMax + 2 }, (_, i) => asks(2 * i + 1))
  expect(session.take(Buffer.concat([opening(), ...all]))).toBe(true)
  expect(framesOf(session.output()).filter(([type]) => type === Type.Reset)).toEqual([
    [Type.Reset, 2 * streamsMax + 1, Http2Error.RefusedStream],
    [Type.Reset, 2 * streamsMax + 3, Http2Error.RefusedStream],
  ])
  expect(session.take(asks(2 * streamsMax + 5))).toBe(false)
  session.free()
})

test('a session that has failed hears nothing more', () => {
  const heard: number[] = []
  const onEnd = (stream: number): unknown => heard.push(stream)
  const session = engine.open({ ...quiet, onControl: () => false, onEnd })
  expect(session.take(opening())).toBe(false)
  expect(session.take(asks(1))).toBe(false)
  expect(heard).toEqual([])
  session.free()
})

test('a stream that the listener does not want is refused', () => {
  const heard: number[] = []
  const onEnd = (stream: number): unknown => heard.push(stream)
  const session = engine.open({ ...quiet, onBegin: (stream) => stream !== 1, onEnd })
  session.take(Buffer.concat([opening(), asks(1), asks(3)]))
  expect(heard).toEqual([3])
  expect(framesOf(session.output())).toContainEqual([Type.Reset, 1, Http2Error.RefusedStream])
  session.free()
})

test('what a listener throws comes out of the call, and other sessions go on', () => {
  const fault = new Error('a fault of ours')
  const bad = engine.open({
    ...quiet,
    onEnd: () => {
      throw fault
    },
  })
  expect(() => bad.take(Buffer.concat([opening(), asks(1)]))).toThrow(fault)
  const heard: number[] = []
  const good = engine.open({ ...quiet, onEnd: (stream) => heard.push(stream) })
  expect(good.take(Buffer.concat([opening(), asks(1)]))).toBe(true)
  expect(heard).toEqual([1])
  for (const session of [bad, good]) session.free()
})

test('a call that cannot be made leaves the other sessions as they were', () => {
  const [bad, good] = [engine.open(quiet), engine.open(quiet)]
  expect(() => bad.take(5 as unknown as Uint8Array)).toThrow()
  expect(good.take(Buffer.concat([opening(), asks(1)]))).toBe(true)
  for (const session of [bad, good]) session.free()
})

test('a session that finishes hears no new request, and sends what it still owes', () => {
  const heard: number[] = []
  const session = engine.open({ ...quiet, onEnd: (stream) => heard.push(stream) })
  session.take(Buffer.concat([opening(), asks(1)]))
  session.output()
  session.finish()
  expect(framesOf(session.output())).toEqual([[Type.GoAway, 0, Http2Error.None]])
  session.take(asks(3))
  expect(heard).toEqual([1])
  expect(session.isOver).toBe(false)
  session.respond(1, [[':status', '200']], Buffer.from('x'))
  expect(framesOf(session.output())).toEqual([
    [Type.Headers, 1],
    [Type.Data, 1],
  ])
  expect(session.isOver).toBe(true)
  session.free()
})

test('a session that is terminated says why, and that alone', () => {
  const session = engine.open(quiet)
  session.take(Buffer.concat([opening(), asks(1)]))
  session.output()
  session.respond(1, [[':status', '200']], Buffer.from('x'))
  session.terminate(Http2Error.EnhanceYourCalm)
  expect(framesOf(session.output())).toEqual([[Type.GoAway, 0, Http2Error.EnhanceYourCalm]])
  expect(session.isOver).toBe(true)
  session.free()
})

test('a reply of no octets ends its stream', () => {
  const closed: number[] = []
  const session = engine.open({
    ...quiet,
    onEnd: (stream) => session.respond(stream, [[':status', '405']], Buffer.alloc(0)),
    onClose: (stream) => closed.push(stream),
  })
  session.take(Buffer.concat([opening(), asks(1)]))
  session.output()
  expect(closed).toEqual([1])
  session.free()
})

const replies: Parameters<ReturnType<typeof engine.open>['respond']>[1] = [[':status', '200']]

test('a stream that is answered twice ends, and the others go on', () => {
  const session = engine.open(quiet)
  expect(session.take(Buffer.concat([opening(), asks(1), asks(3)]))).toBe(true)
  session.respond(1, replies, Buffer.from('first'))
  session.respond(1, replies, Buffer.from('second'))
  session.respond(3, replies, Buffer.from('other'))
  const sent = session.output()!
  expect(framesOf(sent)).toContainEqual([Type.Reset, 1, Http2Error.Internal])
  expect(framesOf(sent).filter(([type]) => type === Type.Data)).toEqual([[Type.Data, 3]])
  expect(session.isOver).toBe(false)
  session.free()
})

test.each<[string, (session: ReturnType<typeof engine.open>) => void]>([
  ['a reply', (session) => session.respond(0, replies, Buffer.from('x'))],
  ['an end', (session) => session.reset(0, Http2Error.None)],
])('%s of a stream that cannot be ends the session', (_what, submit) => {
  const session = engine.open(quiet)
  expect(session.take(Buffer.concat([opening(), asks(1)]))).toBe(true)
  expect(session.isOver).toBe(false)
  submit(session)
  expect([session.isOver, session.output()]).toEqual([true, undefined])
  session.free()
})
