// Changes of records that are kept beside the copy until it has them.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createLocalCopy } from '#zones/dynamic/local-copy.ts'
import type { DynamicDnsState, RecordDelta, StoredRecord } from '#state/ports/dynamic-dns.ts'
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
const changes: readonly RecordDelta[] = [
  { revision: 8, added: [record('c')], removed: [] },
  { revision: 9, added: [], removed: ['a'] },
  { revision: 10, added: [record('d')], removed: ['c'] },
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

  test('the next copy takes their place, and what comes while it is written stays', async () => {
    const { directory, copy, readAgain } = noted()
    copy.writeAtOnce(state)
    expect(readdirSync(directory)).toEqual(['copy'])
    const many = Array.from({ length: 600 }, (_, i) => record(`r${i}`))
    const writing = copy.write({ ...state, records: many })
    copy.note(changes[0]!)
    await writing
    expect(readAgain()).toMatch(/^8: .* r599 c$/)
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
