import { describe, expect, test } from 'vitest'
import { createLog, logFormOf } from '#process/log.ts'
import type { LogLevel, ProcessLog } from '#process/log.ts'

function record(format: 'json' | 'text', level: LogLevel = 'info'): [ProcessLog, string[]] {
  const lines: string[] = []
  return [createLog({ format, level }, (line) => lines.push(line)), lines]
}

describe('a JSON line', () => {
  test('has time, level, sentence and fields', () => {
    const [log, lines] = record('json')
    log.warn({ port: 53 }, 'the port is low')
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(/\n$/)
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      level: 'warn',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
      port: 53,
      msg: 'the port is low',
    })
  })

  test('shows an error with its stack', () => {
    const [log, lines] = record('json')
    log.error({ err: new Error('broken') }, 'it failed')
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      err: {
        type: 'Error',
        message: 'broken',
        stack: expect.stringContaining('log.test.ts') as string,
      },
    })
  })
})

describe('a text line', () => {
  const rows: readonly [string, object, string, string][] = [
    ['is a sentence alone', {}, 'ready', 'INFO  ready'],
    [
      'adds plain fields',
      { port: 53, zone: 'example.com.' },
      'ready',
      'INFO  ready  port=53 zone=example.com.',
    ],
    ['quotes what has spaces', { why: 'two words' }, 'held', 'INFO  held  why="two words"'],
    ['writes nested fields as JSON', { node: { seq: 3 } }, 'ok', 'INFO  ok  node={"seq":3}'],
    [
      'cannot be forged by a line feed',
      { why: 'a\nERROR b' },
      'x\ny',
      'INFO  x\\u000ay  why="a\\nERROR b"',
    ],
    [
      'cannot move the cursor',
      { why: '\u001b[2J' },
      '\u202eok',
      'INFO  \\u202eok  why="\\u001b[2J"',
    ],
  ]
  test.each(rows)('%s', (_title, fields, message, expected) => {
    const [log, lines] = record('text')
    log.info(fields, message)
    expect(lines.map((line) => line.slice(25))).toEqual([`${expected}\n`])
  })
})

describe('an error in a text line', () => {
  const broken = (): Error => new Error('broken', { cause: new Error('no disk\nERROR forged') })

  test('is its message with those of its causes, without a stack', () => {
    const [log, lines] = record('text')
    log.error({ err: broken(), port: 53 }, 'it failed')
    expect(lines[0]?.slice(25)).toBe(
      'ERROR it failed  err="broken: no disk\\nERROR forged" port=53\n',
    )
  })

  test('has its stack below it at level debug, each line set in', () => {
    const [log, lines] = record('text', 'debug')
    log.error({ err: broken() }, 'it failed')
    const [, ...stack] = lines.join('').trimEnd().split('\n')
    expect(stack.join('\n')).toContain('log.test.ts')
    expect(stack.filter((line) => !line.startsWith('    '))).toEqual([])
  })
})

const logging = { level: 'info', pseudonymous: false } as const

test.each([false, true])('an account is named without its address: %s', (pseudonymous) => {
  const lines: string[] = []
  const form = logFormOf({ ...logging, format: 'json', pseudonymous }, { isTerminal: false })
  const log = createLog(form, (line) => lines.push(line))
  log.info({ userId: 'u1', userEmail: 'ann@example.com' }, 'said')
  log.always({ userId: 'u1', userEmail: 'ann@example.com' }, 'said')
  const email = pseudonymous ? {} : { userEmail: 'ann@example.com' }
  const line = { level: 'info', time: expect.any(String) as string, msg: 'said' }
  const expected = { ...line, userId: 'u1', ...email }
  expect(lines.map((text) => JSON.parse(text) as unknown)).toEqual([expected, expected])
})

describe('the format', () => {
  test.each([
    ['auto', true, 'text'],
    ['auto', false, 'json'],
    ['text', false, 'text'],
    ['json', true, 'json'],
  ] as const)('%s, on a terminal: %s, is %s', (format, isTerminal, expected) => {
    expect(logFormOf({ ...logging, format }, { isTerminal }).format).toBe(expected)
  })
})

describe('the level', () => {
  const rows: readonly [LogLevel, string[]][] = [
    ['debug', ['debug', 'info', 'warn', 'error']],
    ['info', ['info', 'warn', 'error']],
    ['warn', ['warn', 'error']],
    ['error', ['error']],
  ]
  const writeAll = (log: ProcessLog): void => {
    for (const level of ['debug', 'info', 'warn', 'error'] as const) log[level]({}, level)
  }
  const messages = (lines: readonly string[]): unknown[] =>
    lines.map((line) => (JSON.parse(line) as { msg: string }).msg)

  test.each(rows)('%s writes %j', (level, expected) => {
    const [log, lines] = record('json', level)
    writeAll(log)
    expect(messages(lines)).toEqual(expected)
  })

  test('can change while the process runs', () => {
    const [log, lines] = record('json', 'error')
    log.setLevel('warn')
    writeAll(log)
    expect(messages(lines)).toEqual(['warn', 'error'])
  })
})

describe('a secret is not written', () => {
  const rows: readonly [string, object, string][] = [
    ['as a field', { token: 'hunter2' }, 'm'],
    ['as a field of a field', { remote: { password: 'hunter2' } }, 'm'],
    ['three levels deep', { a: { b: { privateKey: 'hunter2' } } }, 'm'],
    ['in the address of a remote', { url: 'https://u:hunter2@example.com/r' }, 'm'],
    ['as the name in an address', { url: 'https://hunter2@example.com/r' }, 'm'],
    ['in a sentence', {}, 'cannot fetch https://u:hunter2@example.com/r'],
    ['in an error', { err: new Error('GET https://u:hunter2@example.com/r failed') }, 'm'],
  ]
  for (const format of ['json', 'text'] as const) {
    test.each(rows)(`%s (${format})`, (_title, fields, message) => {
      const [log, lines] = record(format)
      log.error(fields, message)
      expect(lines.join('')).toContain('[redacted]')
      expect(lines.join('')).not.toContain('hunter2')
    })
  }

  test('while an address without one stays readable', () => {
    const [log, lines] = record('text')
    log.info({ url: 'https://example.com/a@b' }, 'fetched')
    expect(lines[0]).toContain('url=https://example.com/a@b')
  })
})

test('lines that were lost are told, once, before the next one', () => {
  const lines: string[] = []
  let lost = 7
  const takeLost = () => {
    const count = lost
    lost = 0
    return count
  }
  const log = createLog({ format: 'text', level: 'info' }, (line) => lines.push(line), takeLost)
  log.info({}, 'one')
  log.info({}, 'two')
  expect(lines.map((line) => line.slice(25).trim())).toEqual([
    'WARN  log lines were lost: the output could not be written  lost=7',
    'INFO  one',
    'INFO  two',
  ])
})

test('fields that say nothing are left out, and times are short', () => {
  const lines: string[] = []
  const log = createLog({ format: 'text', level: 'info' }, (line) => lines.push(line))
  log.info({ code: '', rttMs: 0.6123456, port: 0 }, 'ok')
  expect(lines[0]?.slice(25)).toBe('INFO  ok  rttMs=0.61 port=0\n')
})
