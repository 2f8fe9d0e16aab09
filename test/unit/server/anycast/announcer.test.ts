// When addresses are announced, and when they are taken back.
import { expect, test } from 'vitest'
import { Announcer } from '#server/anycast/announcer.ts'
import type { Finding } from '#server/anycast/announcer.ts'
import { FakeTime } from '#test/support/fake-time.ts'

const settings = { rise: 3, fall: 2, holdDownMs: 10_000 }
const intervalMs = 1_000

/** `+` an answer, `-` none, `0` no bundle, `o` an old one, `!` a drain. */
const findings: Readonly<Record<string, Finding>> = {
  '+': 'fit',
  '-': 'silent',
  '0': 'no-bundle',
  o: 'bundle-old',
}

function played(looks: string, takesOver = false) {
  const time = new FakeTime(Date.UTC(2026, 10, 1))
  const announcer = new Announcer(settings, time.clock, takesOver)
  let line = ''
  for (const look of looks) {
    time.pass(intervalMs)
    if (look === '!') announcer.drain()
    else announcer.see(findings[look]!)
    line += { announced: 'A', withdrawn: '.', 'as-before': '?' }[announcer.wanted]
  }
  return { line, reason: announcer.reason, announcer, time }
}

const good = (count: number): string => '+'.repeat(count)

test.each([
  ['three good looks in a row announce', '++-+++', '.....A', null],
  ['one look without an answer changes nothing', '+++-++-+', '..AAAAAA', null],
  ['two in a row withdraw', '+++--', '..AA.', 'silent'],
  ['a lack of a bundle withdraws at once', '+++0', '..A.', 'no-bundle'],
  ['so does a bundle that is too old', '+++o', '..A.', 'bundle-old'],
  ['a drain withdraws for good', '+++!+++++', '..A......', 'draining'],
  ['why it stays withdrawn is said, not why it began', '+++0--', '..A...', 'silent'],
  ['nothing is announced before the first look', '', '', 'starting'],
])('%s', (_name, looks, line, reason) => {
  expect(played(looks)).toMatchObject({ line, reason })
})

test('withdrawn routes stay so for the hold-down, however well the node is', () => {
  expect(played(`+++--${good(12)}`).line).toBe('..AA..........AAA')
})

test('the hold-down doubles while it flaps, and is short again after a long announcement', () => {
  const flap = `--${good(10)}`
  const twice = played(`+++${flap}--${good(19)}`)
  expect(twice.line.endsWith('A')).toBe(false)
  expect(played(`+++${flap}--${good(20)}`).line.endsWith('A')).toBe(true)
  expect(played(`+++${flap}${good(101)}--${good(10)}`).line.endsWith('A')).toBe(true)
})

test('the hold-down has a most, however often it flaps', () => {
  const { announcer, time } = played('+++')
  for (let i = 0; i < 50; i++) {
    announcer.see('no-bundle')
    time.pass(32 * settings.holdDownMs)
    for (let look = 0; look < 3; look++) announcer.see('fit')
    expect(announcer.wanted).toBe('announced')
  }
})

test.each([
  ['good looks announce what a process before has announced', '+++', '??A'],
  ['until then nothing is told, nor for one silence', '++-+', '????'],
  ['a silence that lasts withdraws', '+--', '??.'],
])('a process that takes over: %s', (_name, looks, line) => {
  expect(played(looks, true).line).toBe(line)
})
