// Changes of records that are kept beside the copy until it has them.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createLocalCopy } from '#zones/dynamic/local-copy.ts'
import type { CopyChange } from '#zones/dynamic/copy-changes.ts'
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

  test('a gap ends them', () => {
    expect(noted([changes[0]!, changes[2]!]).readAgain()).toBe('8: a b c')
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

  test('a line that was cut short does not take those behind it away', () => {
    const { path, readAgain } = noted(changes.slice(0, 2))
    const two = readFileSync(path, 'utf8')
    writeFileSync(path, two.slice(0, -9))
    createLocalCopy(path.replace('.changes', ''), key, silentLog).note(changes[1]!)
    expect(readAgain()).toBe('9: b c')
  })

  test('the next copy takes their place, and what comes while it is written stays', async () => {
    const { directory, copy, readAgain } = noted()
    copy.writeAtOnce(state)
    expect(readdirSync(directory)).toEqual(['copy'])
    for (const change of changes) copy.note(change)
    const many = Array.from({ length: 600 }, (_, i) => record(`r${i}`))
    const writing = copy.write({ ...state, records: many })
    copy.note(changes[0]!)
    // A process that is killed here has the copy of before, and what was set aside.
    expect(readAgain()).toBe('10: b d')
    await writing
    expect(readAgain()).toMatch(/^8: .* r599 c$/)
    expect(readdirSync(directory)).toEqual(['copy', 'copy.changes'])
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
