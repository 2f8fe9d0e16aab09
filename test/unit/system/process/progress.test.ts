import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { main } from '#cli/main.ts'
import { openProgress, spaced } from '#system/process/progress.ts'
import { FakeTime } from '#test/support/fake-time.ts'

const erase = '\r\u001B[K'
const site = 'examples/quickstart'

describe('the line of progress', () => {
  type Use = (progress: ReturnType<typeof openProgress>, time: FakeTime) => void
  const written = (isTerminal: boolean, use: Use) => {
    const time = new FakeTime(0)
    let text = ''
    const write = (more: string): void => void (text += more)
    use(openProgress({ write, isTerminal, clock: time.clock, after: time.after }), time)
    return { text, timers: time.waiting }
  }

  test('is replaced by the next one, and leaves nothing behind', () => {
    const { text, timers } = written(true, ({ say, clear }) => {
      say('reading a')
      say('compiling 3 files')
      clear()
      clear()
    })
    expect(text).toBe(`${erase}reading a …${erase}compiling 3 files …${erase}`)
    expect(timers).toBe(0)
  })

  test('on a terminal counts the seconds of what takes more than three', () => {
    const { text } = written(true, ({ say }, time) => {
      say('reading a')
      time.pass(4_500)
      say('reading b')
    })
    const shown = ['', '', '', ' 3 s', ' 4 s'].map((took) => `reading a …${took}`)
    expect(text).toBe([...shown, 'reading b …'].map((line) => erase + line).join(''))
  })

  test('what is printed meanwhile takes its place, and no seconds', () => {
    const { text, timers } = written(true, ({ say, pause, resume, clear }, time) => {
      say('packing')
      time.pass(3_500)
      pause()
      time.pass(2_000)
      resume()
      clear()
      resume()
    })
    const shown = ['', '', '', ' 3 s'].map((took) => `${erase}packing …${took}`)
    expect(text).toBe(`${shown.join('')}${erase}${erase}packing … 5 s${erase}`)
    expect(timers).toBe(0)
  })

  test('elsewhere a line after what was printed has the seconds of all of it', () => {
    const { text } = written(false, ({ say, pause, resume }, time) => {
      say('packing')
      for (let i = 0; i < 4; i++) {
        time.pass(900)
        pause()
        resume()
      }
    })
    expect(text).toBe('packing … 3 s\n')
  })

  test('elsewhere says nothing of what takes less than three seconds', () => {
    const { text, timers } = written(false, ({ say, clear }, time) => {
      say('reading a')
      time.pass(1_500)
      say('reading b')
      time.pass(1_400)
      clear()
      time.pass(60_000)
    })
    expect({ text, timers }).toEqual({ text: '', timers: 0 })
  })

  test('elsewhere is a line after three seconds, and then each ten', () => {
    const { text } = written(false, ({ say }, time) => {
      say('reading a')
      time.pass(2_500)
      say('reading b')
      time.pass(12_000)
      for (let i = 0; i < 100; i++) say(`name ${i}`)
    })
    expect(text).toBe('reading b …\nreading b … 11 s\n')
  })

  test('elsewhere comes with the next word where the work lets no timer run', () => {
    const { text } = written(false, ({ say }, time) => {
      say('compiling')
      time.block(20_000)
      say('comparing')
      say('comparing: name 2 of 3')
    })
    expect(text).toBe('comparing …\n')
  })
})

test('what is said again and again is said first, and then as often as it can be read', () => {
  const time = new FakeTime(0)
  const said: string[] = []
  const tell = spaced((words) => void said.push(words), time.clock)
  for (let i = 0; i < 10; i++) {
    tell(() => `name ${i}`)
    time.pass(90)
  }
  expect(said).toEqual(['name 0', 'name 3', 'name 6', 'name 9'])
})

test.each([
  [
    ['check', site],
    [`reading ${site}`, /^compiling \d+ files$/],
  ],
  [
    ['plan', site, '--base', `./${site}`],
    [`reading ./${site}`, `reading ${site}`, 'compiling both', 'comparing what clients get'],
  ],
  [
    ['plan', site, '--base', './examples/geo-routing'],
    [
      ...['reading ./examples/geo-routing', `reading ${site}`, 'compiling both'],
      ...['comparing what clients get', /^comparing what clients get: name 1 of \d+$/],
    ],
  ],
])('gslbd %s says what it does', async (argv, expected) => {
  const said: string[] = []
  const none = (): void => undefined
  const io = { out: none, err: none, env: {}, isTerminal: false }
  expect(await main(argv, { ...io, progress: (doing) => void said.push(doing) })).toBe(0)
  expect(said).toHaveLength(expected.length)
  for (const [i, one] of expected.entries()) expect(said[i]).toMatch(one)
})

test('on a real terminal what is printed takes the place of the line', () => {
  // script(1) gives the program a terminal.
  const command = `${process.execPath} cli/main.ts check ${site}`
  const seen = execFileSync('script', ['-qec', command, '/dev/null'], { encoding: 'utf8' })
  const lines = seen.split(erase).map((line) => line.trim())
  expect(lines.slice(0, 3)).toEqual([
    '',
    `reading ${site} …`,
    expect.stringMatching(/^compiling \d+ files …$/),
  ])
  expect(lines.at(-1)).toMatch(/^ok: /)
})
