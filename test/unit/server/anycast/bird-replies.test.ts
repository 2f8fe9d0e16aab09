// Replies of BIRD's control protocol: as BIRD 2.0.12 says them, and anything else.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BirdReplies, birdLimits, hasFailed, sentenceOf } from '#server/anycast/bird-replies.ts'
import type { BirdReply } from '#server/anycast/bird-replies.ts'
import { anyText } from '#test/support/any-text.ts'

const corpus = join(import.meta.dirname, '../../../fuzz/corpus/bird-reply')

const welcome = '0001 BIRD 2.0.12 ready.\n'
const enabled = '0011-gslbd: enabled\n0000 \n'
const shown =
  '2002-Name       Proto      Table      State  Since         Info\n' +
  '1002-gslbd      Static     master4    up     17:24:32.946  \n0000 \n'
const status =
  '1000-BIRD 2.0.12\n1011-Router ID is 10.0.0.1\n Hostname is vm\n0013 Daemon is up and running\n'
const unknown =
  '9001 syntax error, unexpected CF_SYM_UNDEFINED, expecting CF_SYM_KNOWN or TEXT or ALL\n'

function read(...chunks: string[]): readonly BirdReply[] | string {
  const reader = new BirdReplies()
  const replies: BirdReply[] = []
  for (const chunk of chunks) {
    const result = reader.read(chunk)
    if (!result.ok) return result.error
    replies.push(...result.value)
  }
  return replies
}

test.each([
  [welcome, 1, 'BIRD 2.0.12 ready.', false],
  [enabled, 0, 'gslbd: enabled', false],
  [status, 13, 'BIRD 2.0.12', false],
  ['8003 No protocols match\n', 8_003, 'No protocols match', true],
  [unknown, 9_001, unknown.slice(5, -1), true],
])('%j is one reply with its code', (text, code, sentence, failed) => {
  const replies = read(text) as readonly BirdReply[]
  expect(replies).toHaveLength(1)
  expect(replies[0]!.code).toBe(code)
  expect(sentenceOf(replies[0]!)).toBe(sentence)
  expect(hasFailed(replies[0]!)).toBe(failed)
})

test('a line without a code of its own has that of the line before', () => {
  const [reply] = read(status) as readonly BirdReply[]
  expect(reply!.lines[2]).toEqual({ code: 1_011, text: 'Hostname is vm' })
})

test('lines that belong to no command are left out, also in the middle of a reply', () => {
  expect(read(`+0000 a debug message\n${enabled.replace('0000', '+more\n0000')}`)).toEqual(
    read(enabled),
  )
})

test('replies are the same, however the octets come', () => {
  const whole = welcome + enabled + shown + status + unknown
  const cuts = fc.uniqueArray(fc.nat(whole.length), { maxLength: 20 })
  fc.assert(
    fc.property(cuts, (places) => {
      const at = [0, ...places.toSorted((a, b) => a - b), whole.length]
      const chunks = at.slice(1).map((end, i) => whole.slice(at[i], end))
      expect(read(...chunks)).toEqual(read(whole))
    }),
  )
})

test.each([
  ['a line without a code', 'hello\n', 'without a code'],
  ['a first line that goes on', ' hello\n', 'without a code'],
  ['a code of three digits', '001 hello\n', 'without a code'],
  ['a line that does not end', `0001 ${'x'.repeat(birdLimits.lineMax)}`, 'more than 1024 octets'],
  ['a long line that does', `0001 ${'x'.repeat(birdLimits.lineMax)}\n`, 'more than 1024 octets'],
  ['a reply that does not end', '0011-a\n'.repeat(birdLimits.linesMax + 1), 'more than 256 lines'],
])('%s is refused, and all that comes after it', (_name, text, why) => {
  const reader = new BirdReplies()
  const first = reader.read(text)
  expect(first).toEqual({ ok: false, error: expect.stringContaining(why) as string })
  expect(reader.read(enabled)).toEqual(first)
})

const hostile = readdirSync(corpus).map((name) => readFileSync(join(corpus, name), 'latin1'))
const line = fc.oneof(
  anyText({ maxLength: 40 }),
  fc.constantFrom('0001 ', '0011-', ' ', '+', '\n', '9001 x\n', '\0', '\r\n', ...hostile),
)

test('any octets give replies within the bounds, or a sentence', () => {
  expect(hostile.length).toBeGreaterThan(4)
  fc.assert(
    fc.property(fc.array(line, { maxLength: 40 }), (chunks) => {
      const replies = read(...chunks)
      if (typeof replies === 'string') expect(replies).toMatch(/^it /)
      for (const { lines, code } of typeof replies === 'string' ? [] : replies) {
        expect(lines.length).toBeGreaterThan(0)
        expect(lines.length).toBeLessThanOrEqual(birdLimits.linesMax)
        expect(lines.at(-1)!.code).toBe(code)
        for (const { text } of lines) expect(text.length).toBeLessThan(birdLimits.lineMax)
      }
    }),
  )
})
