// When primary servers were heard: kept over a restart, and written seldom.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { silentLog } from '#test/support/api-ports.ts'
import { createZoneContacts } from '#state/file/zone-contacts.ts'

test('zones that are heard for the first time share one write, which a restart reads', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gslbd-contacts-'))
  try {
    const path = join(folder, 'zone-contacts.json')
    const armed: (() => void)[] = []
    const after = (_: number, fn: () => void) => {
      armed.push(fn)
      return () => undefined
    }
    const parts = { log: silentLog, after, clock: { nowMs: () => 2_000 } }
    const contacts = createZoneContacts(path, parts)
    for (let i = 0; i < 50; i++) contacts.heard(`z${i}.example.com.`, 1_000 + i)
    expect([armed.length, existsSync(path)]).toEqual([1, false])
    armed[0]!()
    expect(Object.keys(JSON.parse(readFileSync(path, 'utf8')) as object)).toHaveLength(50)
    expect(createZoneContacts(path, parts).of('z7.example.com.')).toBe(1_007)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test.each([
  ['a minute ahead', 1_800_000_060_000, 1],
  ['a second ahead', 1_800_000_001_000, 0],
])('a contact that is %s is told of at the start', (_, atMs, count) => {
  const folder = mkdtempSync(join(tmpdir(), 'gslbd-contacts-'))
  try {
    const path = join(folder, 'zone-contacts.json')
    writeFileSync(path, JSON.stringify({ 'a.example.': 1_700_000_000_000, 'b.example.': atMs }))
    const told: object[] = []
    const warn = (fields: object): void => void told.push(fields)
    const clock = { nowMs: () => 1_800_000_000_000 }
    const after = () => () => undefined
    const contacts = createZoneContacts(path, { log: { ...silentLog, warn }, after, clock })
    const fields = { file: path, zones: 1, aheadMs: 60_000 }
    expect(told).toEqual(Array.from({ length: count }, () => fields))
    expect(contacts.of('b.example.')).toBe(atMs)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
