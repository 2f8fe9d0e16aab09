import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { main } from '#cli/main.ts'
import { openProgress, spaced } from '#cli/terminal/progress.ts'
import { FakeTime } from '#test/support/fake-time.ts'

const erase = '\r\u001B[K'
const site = 'examples/quickstart'

describe('the line of progress', () => {
  const written = (
    isTerminal: boolean,
    use: (progress: ReturnType<typeof openProgress>) => void,
  ) => {
    let text = ''
    use(openProgress((more) => void (text += more), isTerminal))
    return text
  }

  test('is replaced by the next one, and leaves nothing behind', () => {
    const text = written(true, ({ say, clear }) => {
      say('reading a')
      say('compiling 3 files')
      clear()
      clear()
    })
    expect(text).toBe(`${erase}reading a …${erase}compiling 3 files …${erase}`)
  })

  test('is not written where nobody looks', () => {
    expect(written(false, ({ say, clear }) => [say('reading a'), clear()])).toBe('')
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
