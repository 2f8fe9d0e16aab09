// Zone files as BIND and ldns read them: the same records of the text and of what we print.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseName } from '#dns/name.ts'
import { printName } from '#dns/rdata-text/name-text.ts'
import { canonicalRdata, rdataTypeOf, rdataTypes } from '#dns/rdata/rdata-types.ts'
import { parseZoneFile } from '#dns/zone-file/zone-file.ts'
import type { ZoneRecord } from '#dns/zone-file/zone-record.ts'
import { zoneLines } from '#dns/zone-file/zone-writer.ts'
import { zoneOfAllTypes } from '#test/support/dns/zone-of-all-types.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'

const name = parseName('example.com.')
const origin = name.ok ? name.value : new Uint8Array(1)

function recordsOf(text: string): readonly ZoneRecord[] {
  const octets = Buffer.from(text)
  const { records, faults } = parseZoneFile({ path: 'zone', octets }, { origin })
  expect(faults).toEqual([])
  return [...records]
}

/** A line for each record that does not depend on how texts are written; each once. */
function shown(records: readonly ZoneRecord[]): string[] {
  const lines = records.map(({ owner, ttl, type, rdata }) => {
    const canonical = canonicalRdata(rdataTypeOf(type), rdata)
    const text = [printName(owner).toLowerCase(), ttl, rdataTypeOf(type).name]
    return [...text, Buffer.from(canonical).toString('hex')].join(' ')
  })
  return [...new Set(lines)].sort()
}

let folder = ''
beforeAll(() => {
  folder = makeTempDir()
})
afterAll(() => removeTempDir(folder))

function writtenTo(file: string, text: string): string {
  writeFileSync(join(folder, file), text)
  return join(folder, file)
}

function named(text: string): string {
  const file = writtenTo('named.zone', text)
  // It complains of names that are not there; that is not what is compared.
  const checks = ['-i', 'none', '-k', 'ignore', '-m', 'ignore', '-M', 'ignore', '-n', 'ignore']
  const form = ['-q', '-s', 'full', '-o', `${file}.out`]
  execFileSync('named-compilezone', [...checks, ...form, 'example.com', file])
  return readFileSync(`${file}.out`, 'utf8')
}

function ldns(text: string): string {
  const file = writtenTo('ldns.zone', text)
  return execFileSync('ldns-read-zone', [file], { encoding: 'utf8' })
}

const written = zoneOfAllTypes(16)
const printed = (names: 'relative' | 'absolute'): string =>
  [...zoneLines(recordsOf(written), { origin, names })].join('')

test('the zone has at least 400 rrsets, and every type', () => {
  const ours = recordsOf(written)
  const rrsets = new Set(ours.map(({ owner, type }) => `${printName(owner)} ${type}`))
  expect(rrsets.size).toBeGreaterThanOrEqual(400)
  const types = new Set(ours.map(({ type }) => type))
  expect(rdataTypes.filter(({ code }) => !types.has(code))).toEqual([])
})

test('BIND reads the records that we read', () => {
  expect(shown(recordsOf(named(written)))).toEqual(shown(recordsOf(written)))
})

describe.each(['relative', 'absolute'] as const)('of our print with %s names', (names) => {
  test('BIND makes the same file as of the text itself', () => {
    const lines = (text: string): string[] => text.split('\n').sort()
    expect(lines(named(printed(names)))).toEqual(lines(named(written)))
  })

  // It knows no $GENERATE, so that it is not asked about the text itself.
  test('ldns reads the records that we read', () => {
    expect(shown(recordsOf(ldns(printed(names))))).toEqual(shown(recordsOf(written)))
  })
})
