// Files of keys of BIND and Knot on their way in, and what is said of keys and of what waits.
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import { bindKeyFiles } from '#dns/dnssec/key-files.ts'
import { recordOfKey } from '#dns/dnssec/key-record.ts'
import { zoneKey } from '#dns/dnssec/zone-key.ts'
import { readForeignKeys, storeForeignKeys } from '#server/signing/import-files.ts'
import { readStoredRecords } from '#server/signing/key-store.ts'
import type { Waiting } from '#dns/dnssec/rollover.ts'
import { keyLines, waitingLine } from '#server/signing/key-status.ts'
import { wireName } from '#test/support/dns/wire-name.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'

const nowMs = Date.UTC(2026, 10, 29, 17)
const zone = wireName('example.org')
const secretKey = Buffer.alloc(32, 3)
const nothing = { zone: null, dnskeys: '', nowMs }
const keyOf = (flags: number) => zoneKey(signingAlgorithm(15)!.generate(), flags)!

let directory = ''
beforeEach(() => void (directory = makeTempDir('import')))
afterEach(() => removeTempDir(directory))

function bindFile(flags: number): string {
  const { stem, record, secret } = bindKeyFiles({ zone, key: keyOf(flags) }, nowMs - 1_000)
  writeFileSync(join(directory, `${stem}.private`), secret)
  writeFileSync(join(directory, `${stem}.key`), record)
  return join(directory, `${stem}.key`)
}

function pemFile(flags: number): { path: string; dnskey: string } {
  const key = keyOf(flags)
  const path = join(directory, `${key.tag}.pem`)
  writeFileSync(path, key.privateKey.export({ format: 'pem', type: 'pkcs8' }))
  const octets = Buffer.from(key.rdata.subarray(4)).toString('base64')
  const parts = `${octets.slice(0, 9)} ${octets.slice(9)}`
  return { path, dnskey: `example.org. 3600 IN DNSKEY ${flags} 3 15 ${parts}\n` }
}

test('a KSK and a ZSK of BIND are stored, sealed, and read back with their times', () => {
  const read = readForeignKeys([bindFile(257), bindFile(256)], nothing)
  const folder = join(directory, 'dnssec')
  expect(read.ok && storeForeignKeys(folder, read.value, secretKey)).toHaveLength(2)
  expect(readdirSync(folder)).toHaveLength(4)
  const { found, faults } = readStoredRecords(folder, secretKey, nowMs)
  const records = found.get('example.org.') ?? []
  expect(records.map(({ role }) => role).toSorted()).toEqual(['ksk', 'zsk'])
  expect(records[0]?.times.activeMs).toBe(nowMs - 1_000)
  expect(faults.size).toBe(0)
  expect(readStoredRecords(folder, null, nowMs).faults.size).toBe(1)
})

test('PEM files of Knot have their flags from DNSKEY records', () => {
  const [ksk, zsk] = [pemFile(257), pemFile(256)]
  const given = { zone, dnskeys: ksk.dnskey + zsk.dnskey, nowMs }
  const read = readForeignKeys([ksk.path, zsk.path], given)
  expect(read.ok && read.value.map(({ key }) => key.flags)).toEqual([257, 256])
  const other = readForeignKeys([ksk.path], { ...given, dnskeys: zsk.dnskey })
  const error = `${ksk.path}: no DNSKEY record of example.org. has this key: it is not in use there`
  expect(other).toEqual({ ok: false, error })
})

test.each([
  ['key.txt', /name a file K\*\.key of BIND, or a PEM file/],
  ['key.pem', /name the zone of a PEM file by --zone/],
])('%s is refused', (name, reason) => {
  const read = readForeignKeys([join(directory, name)], nothing)
  expect(read).toEqual({ ok: false, error: expect.stringMatching(reason) as string })
})

test('a line says what a key does', () => {
  const times = { createdMs: nowMs, publishedMs: nowMs, activeMs: nowMs, dsSubmittedMs: nowMs }
  const csk = recordOfKey('example.org.', keyOf(257), 'csk', { ...times, dsSeenMs: nowMs })
  const old = { ...csk, times: { ...csk.times, retiredMs: nowMs, removedMs: nowMs } }
  const foreign = { ...csk, secret: null, algorithm: 8 }
  expect(keyLines([csk])).toEqual([
    `CSK ${csk.tag} ed25519: shown, signs keys, signs records, in CDS; at the parent since ` +
      '2026-11-29 17:00 UTC',
  ])
  expect(keyLines([old])[0]).toMatch(/not in use; out of the DNSKEY records since 2026-11-29/)
  expect(keyLines([foreign])[0]).toMatch(/algorithm 8: shown, private half elsewhere/)
})

test('a line says what a key waits for, and what to do', () => {
  const waiting: readonly Waiting[] = [
    { for: 'time', tag: 1, step: 'sign', untilMs: nowMs },
    { for: 'age', tag: 1, role: 'zsk', untilMs: nowMs },
    { for: 'parent', tag: 2, ds: '2 13 2 AB', sinceMs: nowMs },
    { for: 'old-ds', tag: 2, ds: ['1 8 2 CD'] },
    { for: 'nodes', tag: 3, nodes: ['a', 'b', 'c', 'd', 'e', 'f'] },
  ]
  expect(waiting.map((one) => waitingLine('example.org.', one))).toEqual([
    'Key 1 signs records from 2026-11-29 17:00 UTC on.',
    'ZSK 1 is followed by another one from 2026-11-29 17:00 UTC on.',
    'Since 2026-11-29 17:00 UTC key 2 waits for the parent: give it the DS record ' +
      '"example.org. IN DS 2 13 2 AB", unless it reads CDS. Where this node cannot ask the ' +
      'parent: "gslbd dnssec seen example.org. 2" when all of its servers have it.',
    'Key 2 waits until the parent has DS records of its algorithm alone: take ' +
      '"1 8 2 CD" away there.',
    'Key 3 waits for nodes that answer by keys of before: a, b, c, d, e and 1 more. After a day ' +
      'it goes on without them.',
  ])
})
