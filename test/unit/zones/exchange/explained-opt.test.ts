// The OPT record of the reply to an update, with the reason as an extended error, and padding.
import { expect, test } from 'vitest'
import { appendOpt } from '#zones/exchange/explained-opt.ts'

const opt = Buffer.from('0000290200000000000000', 'hex')
const at = 12

function explained(why: string, room: number) {
  const into = Buffer.alloc(1_000)
  const end = appendOpt(into, at, opt, { rcode: 5, why }, room)
  const dataBytes = into.readUInt16BE(at + 9)
  expect(end).toBe(at + opt.length + dataBytes)
  if (dataBytes === 0) return undefined
  const [code, length, info] = [0, 2, 4].map((offset) => into.readUInt16BE(at + 11 + offset))
  expect([code, length]).toEqual([15, dataBytes - 4])
  return { info, text: into.toString('utf8', at + 17, end) }
}

test.each<[what: string, why: string, room: number, text: string | undefined]>([
  ['no reason', '', 512, undefined],
  ['a reason', 'not here', 512, 'not here'],
  ['just room for it', 'not here', at + 11 + 6 + 8, 'not here'],
  ['no room for its text: the code alone', 'not here', at + 11 + 6 + 7, ''],
  ['200 octets', 'a'.repeat(250), 512, 'a'.repeat(200)],
  ['200 octets of letters of two', 'é'.repeat(200), 512, 'é'.repeat(100)],
  ['no half of a letter', `a${'é'.repeat(200)}`, 512, `a${'é'.repeat(99)}`],
  ['no half of a pair', `${'a'.repeat(199)}😀`, 512, 'a'.repeat(199)],
])('%s', (_what, why, room, text) => {
  expect(explained(why, room)).toEqual(text === undefined ? undefined : { info: 18, text })
})

test.each([
  ['a reason', 'not here', 4_000, 468],
  ['no reason', '', 4_000, 468],
  ['more than a block', 'not here', 4_000, 936],
  ['what is there, where there is no room', '', 300, 300],
])('with a signature, %s fills whole blocks', (_what, why, room, total) => {
  const signature = total === 936 ? 450 : 69
  const into = Buffer.alloc(5_000, 7)
  const end = appendOpt(into, at, opt, { rcode: 5, why }, room, signature)
  expect(room === total ? end : end + signature).toBe(total)
  expect(into.readUInt16BE(at + 9)).toBe(end - at - opt.length)
  // It is the last option.
  const option = at + opt.length + (why === '' ? 0 : 14)
  expect([into.readUInt16BE(option), into.readUInt16BE(option + 2)]).toEqual([12, end - option - 4])
  expect(into.subarray(option + 4, end).every((octet) => octet === 0)).toBe(true)
  expect(into[end]).toBe(7)
})

test('with no room for the option it is left out', () => {
  const into = Buffer.alloc(100)
  const room = at + opt.length + 3
  expect(appendOpt(into, at, opt, { rcode: 0, why: '' }, room, 69)).toBe(at + opt.length)
})
