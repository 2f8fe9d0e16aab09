import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { main } from '#cli/main.ts'
import type { Tell } from '#lib/log.ts'
import { openProgress } from '#system/process/progress.ts'
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
      say('checking')
      clear()
      clear()
    })
    expect(text).toBe(`${erase}reading a …${erase}checking …${erase}`)
    expect(timers).toBe(0)
  })

  test('on a terminal counts the seconds of what takes more than two', () => {
    const { text } = written(true, ({ say }, time) => {
      say('reading a')
      time.pass(3_500)
      say('reading b')
    })
    const shown = ['', '', ' 2 s', ' 3 s'].map((took) => `reading a …${took}`)
    expect(text).toBe([...shown, 'reading b …'].map((line) => erase + line).join(''))
  })

  test('a count that begins anew has the seconds of the new one', () => {
    const { text } = written(true, ({ say }, time) => {
      say('compiling: file', 1, 4_000)
      time.block(9_000)
      say('compiling: file', 4_000, 4_000)
      for (let i = 1; i <= 3_000; i++) {
        say('compiling: file', i, 4_000)
        time.block(1)
      }
    })
    expect(text.split(erase).at(-1)).toMatch(/^compiling: file 2,\d+ of 4,000 … 2 s, 2 s left$/)
  })

  test('a count is written as often as it can be read, with the seconds that are left', () => {
    const { text } = written(true, ({ say }, time) => {
      for (let i = 1; i <= 4_000; i++) {
        say('compiling: file', i, 10_000)
        time.block(1)
      }
    })
    const lines = text.split(erase).slice(1)
    expect(lines).toHaveLength(20)
    expect(lines.slice(0, 2)).toEqual([
      'compiling: file 1 of 10,000 …',
      'compiling: file 201 of 10,000 …',
    ])
    expect(lines.at(-1)).toBe('compiling: file 3,801 of 10,000 … 3 s, 7 s left')
  })

  test('the seconds that are left grow while nothing is done', () => {
    const { text } = written(true, ({ say }, time) => {
      say('reading: file', 1, 2)
      time.pass(3_000)
    })
    expect(text.split(erase).slice(-2)).toEqual([
      'reading: file 1 of 2 … 2 s, 2 s left',
      'reading: file 1 of 2 … 3 s, 3 s left',
    ])
  })

  test('where nobody knows how many there are, none are said to be left', () => {
    const { text } = written(true, ({ say }, time) => {
      say('reading: file', 1)
      time.block(2_500)
      say('reading: file', 9_000)
    })
    expect(text).toBe(`${erase}reading: file 1 …${erase}reading: file 9,000 … 2 s`)
  })

  test('gives way to text printed meanwhile, without taking seconds', () => {
    const { text, timers } = written(true, ({ say, pause, resume, clear }, time) => {
      say('packing')
      time.pass(2_500)
      pause()
      time.pass(2_000)
      resume()
      clear()
      resume()
    })
    const shown = ['', '', ' 2 s'].map((took) => `${erase}packing …${took}`)
    expect(text).toBe(`${shown.join('')}${erase}${erase}packing … 4 s${erase}`)
    expect(timers).toBe(0)
  })

  test('elsewhere a line after what was printed has the seconds of all of it', () => {
    const { text } = written(false, ({ say, pause, resume }, time) => {
      say('packing')
      for (let i = 0; i < 3; i++) {
        time.pass(900)
        pause()
        resume()
      }
    })
    expect(text).toBe('packing … 2 s\n')
  })

  test('elsewhere says nothing of what takes less than two seconds', () => {
    const { text, timers } = written(false, ({ say, clear }, time) => {
      say('reading a')
      time.pass(1_500)
      say('reading b')
      time.pass(400)
      clear()
      time.pass(60_000)
    })
    expect({ text, timers }).toEqual({ text: '', timers: 0 })
  })

  test('elsewhere is a line after two seconds, and then each ten', () => {
    const { text } = written(false, ({ say }, time) => {
      say('reading a')
      time.pass(1_500)
      say('reading b')
      time.pass(12_000)
      for (let i = 0; i < 100; i++) say('name', i, 100)
    })
    expect(text).toBe('reading b …\nreading b … 11 s\n')
  })

  test('elsewhere comes with the next word where the work lets no timer run', () => {
    const { text } = written(false, ({ say }, time) => {
      say('compiling')
      time.block(20_000)
      say('comparing')
      say('comparing: name', 2, 3)
    })
    expect(text).toBe('comparing …\n')
  })
})

const checking = [
  'compiling: reading files',
  'compiling: file N of N',
  'compiling: joining files',
  'compiling: checking',
]
const compiling = [
  ...checking,
  'compiling: replacing names',
  'compiling: making the bundle',
  'compiling: reading the bundle',
  'compiling: asking policy tests',
  'compiling: looking at what is used',
]
const comparing = 'comparing what clients get'
const zone = 'test/fixtures/import/octodns/example.com.yaml'

describe('long commands', () => {
  let folder = ''
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'gslbd-progress-'))
    const soa = '@ 60 SOA ns.test. a.test. 1 60 60 60 60\n@ 60 NS ns.test.\n'
    const records = Array.from({ length: 2_000 }, (_, i) => `n${i} 60 A 192.0.2.1\n`).join('')
    writeFileSync(join(folder, 'zone.txt'), `$ORIGIN example.\n${soa}${records}`)
    const rule = '$ORIGIN rpz.example.\n@ 60 SOA ns.example. a.example. 1 60 60 60 60\n'
    writeFileSync(join(folder, 'rpz.txt'), `${rule}bad.example 60 CNAME .\n`)
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  const making = ['making files of the records', ...checking]
  const writing = 'writing to FOLDER/out: file N of N'

  test.each<[argv: readonly string[], expected: readonly string[]]>([
    [['check', site], compiling],
    [['compile', site, '-o', 'FOLDER/bundle'], compiling],
    [
      ['plan', site, '--base', `./${site}`],
      [`reading ./${site}`, `reading ${site}`, ...compiling, comparing],
    ],
    [
      ['plan', site, '--base', './examples/geo-routing'],
      [
        ...['reading ./examples/geo-routing', `reading ${site}`, ...compiling],
        ...[comparing, `${comparing}: name N of N`],
      ],
    ],
    [
      ['import', 'zone', 'FOLDER/zone.txt', '-o', 'FOLDER/out'],
      [
        ...['reading FOLDER/zone.txt', 'reading FOLDER/zone.txt: character N of N'],
        ...[...making, writing],
      ],
    ],
    [
      ['import', 'rpz', 'FOLDER/rpz.txt', '-o', 'FOLDER/out', '--force'],
      ['reading FOLDER/rpz.txt', 'reading FOLDER/rpz.txt: character N of N', writing],
    ],
    [
      ['import', 'octodns', zone, '-o', 'FOLDER/out', '--force'],
      [`reading ${zone}`, ...making, writing],
    ],
  ])('gslbd %j', async (argv, expected) => {
    const said = new Set<string>()
    const counts = new Map<string, readonly [number, number | undefined]>()
    const errors: string[] = []
    const io = {
      ...{ out: () => undefined, err: (text: string) => void errors.push(text) },
      ...{ env: {}, isTerminal: false },
      progress: ((doing, done, all) => {
        const words = doing.replace(folder, 'FOLDER')
        said.add(words + (done === undefined ? '' : ' N') + (all === undefined ? '' : ' of N'))
        if (done !== undefined) counts.set(words, [done, all])
      }) satisfies Tell,
    }
    const args = argv.map((word) => word.replace('FOLDER', folder))
    expect([await main(args, io), errors.join('')]).toEqual([0, ''])
    expect([...said]).toEqual(expected)
    for (const [words, [done, all = done]] of counts) {
      // Characters are told now and then.
      if (words.endsWith('character')) expect(done).toBeLessThanOrEqual(all)
      else expect([words, done]).toEqual([words, all])
    }
  })
})

test('on a real terminal what is printed takes the place of the line', () => {
  // script(1) gives the program a terminal.
  const command = `${process.execPath} cli/main.ts check ${site}`
  const seen = execFileSync('script', ['-qec', command, '/dev/null'], { encoding: 'utf8' })
  const lines = seen.split(erase).map((line) => line.trim())
  expect(lines.slice(0, 2)).toEqual(['', 'compiling: reading files …'])
  expect(lines).toContainEqual(expect.stringMatching(/^compiling: file 1 of \d+ …$/))
  expect(lines.at(-1)).toMatch(/^ok: /)
})

test('where standard error is no terminal, a short command says nothing on it', () => {
  const { stderr } = spawnSync(process.execPath, ['cli/main.ts', 'check', site])
  expect(stderr.toString()).toBe('')
})
