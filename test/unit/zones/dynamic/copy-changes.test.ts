// Changes of records that are kept beside the copy until it has them.
import {
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { changesBytesMax } from '#zones/dynamic/copy-changes.ts'
import type { CopyChange } from '#zones/dynamic/copy-changes.ts'
import { createLocalCopy } from '#zones/dynamic/local-copy.ts'
import type { DynamicDnsState, StoredRecord } from '#state/ports/dynamic-dns.ts'
import { silentLog } from '#test/support/api-ports.ts'
import { Random } from '#lib/random.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const record = (id: string): StoredRecord => ({
  ...{ id, tenantId: 'acme', name: `${id}.example.`, type: 16, rdata: 'AXg=' },
  ...{ ttlSeconds: 60, createdAtMs: 1, writtenBy: 'system' },
})
const state: DynamicDnsState = {
  ...{ revisions: { keys: 0, records: 7 }, keys: [], records: [record('a'), record('b')] },
}
const changes: readonly CopyChange[] = [
  { from: 7, revision: 8, added: [record('c')], removed: [] },
  { from: 8, revision: 9, added: [], removed: ['a'] },
  { from: 9, revision: 10, added: [record('d')], removed: ['c'] },
]

describe.each([
  ['sealed', Buffer.alloc(32, 3)],
  ['plain', null],
])('beside a %s copy', (_how, key) => {
  function noted(all = changes) {
    const directory = tempDir('changes')
    const path = join(directory, 'copy')
    const copy = createLocalCopy(path, key, silentLog)
    copy.writeAtOnce(state)
    for (const change of all) copy.note(change)
    const readAgain = () => {
      const found = createLocalCopy(path, key, silentLog).read()
      return `${found?.revisions.records}: ${found?.records.map(({ id }) => id).join(' ')}`
    }
    return { directory, path: `${path}.changes`, copy, readAgain }
  }

  test('they are read with it, after a process that was killed', () => {
    expect(noted().readAgain()).toBe('10: b d')
  })

  test('where one is missing the others count, and the revision stays before it', () => {
    expect(noted([changes[0]!, changes[2]!]).readAgain()).toBe('8: a b d')
  })

  test('what several nodes have written is one change, and may be there twice', () => {
    const others = { from: 7, revision: 9, added: [record('c')], removed: ['a'] }
    expect(noted([others, changes[2]!]).readAgain()).toBe('10: b d')
    expect(noted([changes[0]!, others, changes[2]!]).readAgain()).toBe('10: b d')
  })

  test('what was written while others could not be read is kept, and the revision with it', () => {
    const own = { from: 7, revision: 7, added: [record('x')], removed: [] }
    expect(noted([own, ...changes]).readAgain()).toBe('10: b x d')
  })

  test('a line that was cut short loses only itself', () => {
    const { path, copy, readAgain } = noted([])
    const lengths = changes.map((change) => {
      copy.note(change)
      return statSync(path).size
    })
    const whole = readFileSync(path)
    const rows = [
      { lost: 0, left: '7: b d' },
      { lost: 1, left: '8: a b d' },
      { lost: 2, left: '9: b c' },
    ]
    for (const { lost, left } of rows) {
      const end = lengths[lost]!
      for (let cut = 1; cut < 40; cut += 7) {
        writeFileSync(path, Buffer.concat([whole.subarray(0, end - cut), whole.subarray(end)]))
        expect(readAgain()).toBe(left)
      }
    }
  })

  test('a copy that has none beside it, or those alone, are read', () => {
    const { path, directory, readAgain } = noted()
    rmSync(join(directory, 'copy'))
    expect(readAgain()).toBe('0: d')
    writeFileSync(path, '')
    expect(readAgain()).toBe('undefined: undefined')
  })

  test.each([
    ['cannot be read', (path: string) => mkdirSync(path)],
    [
      'are too many',
      (path: string) => {
        writeFileSync(path, '')
        truncateSync(path, changesBytesMax + 1)
      },
    ],
  ])('where they %s, the copy is read, and the log says so', (_how, hinder) => {
    const { path, directory } = noted()
    rmSync(path)
    hinder(path)
    const lines: string[] = []
    const say = (_fields: object, message: string): number => lines.push(message)
    const log = { info: say, warn: say, error: say }
    expect(createLocalCopy(join(directory, 'copy'), key, log).read()).toEqual(state)
    expect(lines).toEqual([expect.stringMatching(/^changes beside .* cannot be read/)])
  })

  test('those that the copy has are skipped', () => {
    const { path, copy, readAgain } = noted()
    const before = readFileSync(path)
    copy.writeAtOnce({ ...state, revisions: { keys: 0, records: 9 }, records: [record('b')] })
    writeFileSync(path, before)
    expect(readAgain()).toBe('10: b d')
  })

  test('the next copy takes their place, and what comes while it is written stays', async () => {
    const { directory, path, copy, readAgain } = noted()
    copy.writeAtOnce(state)
    expect(readdirSync(directory)).toEqual(['copy'])
    copy.note(changes[0]!)
    const { size } = statSync(path)
    const many = Array.from({ length: 600 }, (_, i) => record(`r${i}`))
    let copied = state
    for (let revision = 8; revision < 12; revision++) {
      copied = { ...copied, revisions: { keys: 0, records: revision }, records: many }
      const writing = copy.write(copied)
      copy.note({ from: revision, revision: revision + 1, added: [record('c')], removed: [] })
      await writing
      expect(readAgain()).toMatch(new RegExp(`^${revision + 1}: .* r599 c$`))
      expect(statSync(path).size).toBeLessThan(1.2 * size)
    }
    copy.writeAtOnce(copied)
    expect(readdirSync(directory)).toEqual(['copy'])
  })

  test.each([
    [
      'there are too many',
      'more has changed than is kept',
      (path: string) => {
        writeFileSync(path, '')
        truncateSync(path, changesBytesMax)
      },
    ],
    ['they cannot be written', 'cannot be written', (path: string) => mkdirSync(path)],
  ])('where %s, that is said once, and a copy is asked for', (_why, says, hinder) => {
    const lines: string[] = []
    const say = (_fields: object, message: string): number => lines.push(message)
    const path = join(tempDir('changes'), 'copy')
    const copy = createLocalCopy(path, key, { info: say, warn: say, error: say })
    hinder(`${path}.changes`)
    expect(changes.map((change) => copy.note(change))).toEqual([false, true, true])
    expect(lines).toEqual([expect.stringContaining(says)])
    rmSync(`${path}.changes`, { recursive: true })
    copy.writeAtOnce(state)
    expect(lines.slice(1).every((line) => line.endsWith('is written again'))).toBe(true)
    expect(copy.note(changes[0]!)).toBe(true)
    expect(copy.read()?.revisions.records).toBe(8)
  })

  test('a file that was cut short gives the changes that are whole', () => {
    const { path, readAgain } = noted()
    const whole = readFileSync(path)
    const results = ['7: a b', '8: a b c', '9: b c', '10: b d']
    let last = 0
    for (let length = 1; length <= whole.length; length += 7) {
      writeFileSync(path, whole.subarray(0, length))
      const at = results.indexOf(readAgain())
      expect(at).toBeGreaterThanOrEqual(last)
      last = at
    }
  })

  test('a damaged file never takes the copy away', () => {
    const { path, readAgain } = noted()
    const whole = readFileSync(path)
    const random = new Random(1)
    for (let i = 0; i < 100; i++) {
      const octets = Buffer.from(whole)
      octets[random.below(octets.length)] = random.below(256)
      writeFileSync(path, octets)
      expect(readAgain()).toMatch(/^\d+: ./)
    }
    for (const text of ['null\n', '1\n', '{}\n', '[]\n', '{"revision":8}\n']) {
      writeFileSync(path, text)
      expect(readAgain()).toBe('7: a b')
    }
  })
})
