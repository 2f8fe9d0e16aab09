// Frame Streams: what is written, and what is read of whatever comes.
import { describe, expect, test } from 'vitest'
import {
  contentType,
  ControlType,
  controlFrame,
  frameHead,
  frameLimits,
  FrameReader,
  takesDnstap,
} from '#answer/query-log/frame-stream.ts'

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex')
const typeHex = Buffer.from(contentType).toString('hex')

test.each([
  ['START', ControlType.Start, `00000000 00000022 00000002 00000001 00000016 ${typeHex}`],
  ['READY', ControlType.Ready, `00000000 00000022 00000004 00000001 00000016 ${typeHex}`],
  ['STOP', ControlType.Stop, '00000000 00000004 00000003'],
  ['FINISH', ControlType.Finish, '00000000 00000004 00000005'],
] as const)('a frame %s is escaped, and says what follows', (_, type, octets) => {
  expect(controlFrame(type)).toEqual(hex(octets))
})

const stream = Buffer.concat([
  controlFrame(ControlType.Start),
  frameHead(3),
  Buffer.from('one'),
  frameHead(5),
  Buffer.from('seven'),
  controlFrame(ControlType.Stop),
])

test.each([1, 2, 3, 5, 8, 13, 1_000])('frames are cut from pieces of %i octets', (size) => {
  const reader = new FrameReader()
  const frames = []
  for (let at = 0; at < stream.length; at += size) {
    const pushed = reader.push(stream.subarray(at, at + size))
    if (!pushed.ok) throw new Error(pushed.error)
    frames.push(...pushed.value)
  }
  expect(reader.restBytes).toBe(0)
  expect(frames).toEqual([
    { kind: 'control', type: ControlType.Start, contentTypes: [contentType] },
    { kind: 'data', octets: Uint8Array.from(Buffer.from('one')) },
    { kind: 'data', octets: Uint8Array.from(Buffer.from('seven')) },
    { kind: 'control', type: ControlType.Stop, contentTypes: [] },
  ])
})

describe('is refused', () => {
  test.each([
    ['a frame that is too long', '00040001', `a frame claims ${frameLimits.dataBytesMax + 1}`],
    ['a control frame that is too long', '00000000 00000201', 'a control frame claims 513'],
    ['a control frame without a type', '00000000 00000003 000000', 'has no type'],
    ['a field that is cut', '00000000 00000007 00000002 000000', 'is cut short'],
    ['a longer field', '00000000 0000000d 00000002 00000001 00000009 41', 'is cut short'],
  ])('%s', (_, octets, sentence) => {
    const pushed = new FrameReader().push(hex(octets))
    expect(pushed).toEqual({ ok: false, error: expect.stringContaining(sentence) as string })
  })
})

test('a receiver takes dnstap if it names dnstap or no content type', () => {
  const accept = (...contentTypes: string[]) =>
    takesDnstap({ kind: 'control', type: ControlType.Accept, contentTypes })
  expect([accept(), accept('a', contentType), accept('a')]).toEqual([true, true, false])
  expect(takesDnstap({ kind: 'data', octets: new Uint8Array(1) })).toBe(false)
})
