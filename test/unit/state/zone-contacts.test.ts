// When primary servers were heard: kept over a restart, and written seldom.
import { mkdtempSync, readFileSync, rmSync, existsSync } from 'node:fs'
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
    const contacts = createZoneContacts(path, silentLog, after)
    for (let i = 0; i < 50; i++) contacts.heard(`z${i}.example.com.`, 1_000 + i)
    expect([armed.length, existsSync(path)]).toEqual([1, false])
    armed[0]!()
    expect(Object.keys(JSON.parse(readFileSync(path, 'utf8')) as object)).toHaveLength(50)
    expect(createZoneContacts(path, silentLog, after).of('z7.example.com.')).toBe(1_007)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
