// Zone files as other servers read them: the same records of the text and of what we print.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { printName } from '#dns/rdata-text/name-text.ts'
import { canonicalRdata, rdataTypeOf, rdataTypes } from '#dns/rdata/rdata-types.ts'
import { parseZoneFile } from '#dns/zone-file/zone-file.ts'
import type { ZoneRecord } from '#dns/zone-file/zone-record.ts'
import { zoneLines } from '#dns/zone-file/zone-writer.ts'
import { anyReader, zoneReaders } from '#dns/zone-file/zone-readers.ts'
import type { ZoneReader } from '#dns/zone-file/zone-readers.ts'
import { ask } from '#test/support/dns/client.ts'
import { compiledByBind } from '#test/support/dns/compiled-zone.ts'
import { referenceServers } from '#test/support/dns/reference.ts'
import { zoneOfAllTypes } from '#test/support/dns/zone-of-all-types.ts'
import { rightSubstitutions, wrongSubstitutions } from '#test/support/dns/substitutions.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

const origin = wireName('example.com.')

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

const named = (text: string): string => compiledByBind(writtenTo('named.zone', text), 'example.com')

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

interface ShownRecord {
  readonly name: string
  readonly type: string
  readonly ttl: number
  /** The first number of MX and SRV, which their content leaves out. */
  readonly prio: number
  readonly content: string
}

/** PowerDNS shows what it has read as JSON. */
function powerDns(text: string): string {
  const file = writtenTo('pdns.zone', text)
  const args = [`--zone=${file}`, '--zone-name=example.com']
  const shown = execFileSync('zone2json', args, { encoding: 'utf8', stdio: 'pipe' })
  const { records } = JSON.parse(shown) as { readonly records: readonly ShownRecord[] }
  const lines = records.map(({ name, type, ttl, prio, content }) => {
    const before = type === 'MX' || type === 'SRV' ? `${prio} ` : ''
    return `${name} ${ttl} IN ${type} ${before}${content}\n`
  })
  // Names in its content are absolute, some without the final dot.
  return `$ORIGIN .\n${lines.join('')}`
}

describe.each(['relative', 'absolute'] as const)('our print with %s names', (names) => {
  test('BIND makes the same file as of the text itself', () => {
    const lines = (text: string): string[] => text.split('\n').sort()
    expect(lines(named(printed(names)))).toEqual(lines(named(written)))
  })

  // It knows no $GENERATE, so that it is not asked about the text itself.
  test('ldns reads the records that we read', () => {
    expect(shown(recordsOf(ldns(printed(names))))).toEqual(shown(recordsOf(written)))
  })

  test('PowerDNS reads the records that we read', () => {
    expect(shown(recordsOf(powerDns(printed(names))))).toEqual(shown(recordsOf(written)))
  })

  test.each(referenceServers)('$name answers the records that we read', async ({ start }) => {
    const server = await start({ name: 'example.com.', text: printed(names) })
    try {
      const missing: string[] = []
      for (const [question, wanted] of rdataByQuestion(recordsOf(written))) {
        const { answer } = await ask(server, question, { tcp: true })
        const found = answer.map(({ rdata }) => rdata.toString('hex')).sort()
        if (found.join() !== wanted.join()) missing.push(question)
      }
      expect(missing).toEqual([])
    } finally {
      await server.stop()
    }
  })
})

/** Keeps types without compressed names in answers, at owners that can be asked directly. */
function rdataByQuestion(records: readonly ZoneRecord[]): Map<string, string[]> {
  const found = new Map<string, string[]>()
  const others = new Set([1, 2, 5, 6, 12, 14, 15, 28, 39, 43])
  for (const { owner, type, rdata } of records) {
    if (others.has(type) || printName(owner).startsWith('*')) continue
    const question = `${printName(owner).toLowerCase()} TYPE${type}`
    const hex = Buffer.from(canonicalRdata(rdataTypeOf(type), rdata)).toString('hex')
    found.set(question, [...new Set([...(found.get(question) ?? []), hex])].sort())
  }
  return found
}

describe('a file for one reader', () => {
  const check: Readonly<Record<string, (file: string) => string[]>> = {
    'bind9.18': (file) => [
      'named-compilezone',
      '-q',
      '-i',
      'none',
      '-k',
      'ignore',
      ...['-o', '/dev/null'],
      'example.com',
      file,
    ],
    'nsd4.6': (file) => ['nsd-checkzone', 'example.com', file],
    'knot3.2': (file) => ['kzonecheck', '-o', 'example.com', file],
    'pdns4.7': (file) => ['zone2json', `--zone=${file}`, '--zone-name=example.com'],
  }

  test.each(zoneReaders)('$name reads it, with every name that it knows', (reader) => {
    const options = { origin, names: 'absolute', reader } as const
    const text = [...zoneLines(recordsOf(written), options)].join('')
    const [program, ...args] = check[reader.name]!(writtenTo(`${reader.name}.zone`, text))
    expect(() => execFileSync(program!, args, { stdio: 'pipe' })).not.toThrow()
  })

  // `zone2json` above passes on what is in the records as it is.
  test('PowerDNS loads what it refuses of the one for all of them', () => {
    const records = recordsOf('@ 60 SOA a. b. 1 1 1 1 1\n@ 60 NS a.\nx 60 IPSECKEY 10 0 2 . AQID\n')
    writtenTo('pdns.conf', `launch=bind\nbind-config=${join(folder, 'named.conf')}\n`)
    const loads = (reader: ZoneReader): string => {
      const text = [...zoneLines(records, { origin, names: 'absolute', reader })].join('')
      const file = writtenTo('loaded.zone', text)
      writtenTo('named.conf', `zone "example.com" { type native; file "${file}"; };\n`)
      const args = [`--config-dir=${folder}`, 'check-zone', 'example.com']
      return execFileSync('pdnsutil', args, { encoding: 'utf8', stdio: 'pipe' })
    }
    expect(loads(zoneReaders.find(({ name }) => name === 'pdns4.7')!)).toContain(' 0 errors')
    expect(() => loads(anyReader)).toThrow()
  })

  test('is the one for all of them, or has more names', () => {
    for (const { unknownTypes, keyMax } of zoneReaders) {
      expect([...unknownTypes].filter((type) => !anyReader.unknownTypes.has(type))).toEqual([])
      expect(keyMax).toBeGreaterThanOrEqual(anyReader.keyMax)
    }
  })
})

test('BIND takes the substitutions of NAPTR that we take, and none of those that we refuse', () => {
  const zone = (texts: readonly string[]): string =>
    texts.reduce(
      (all, text, i) => `${all}n${i} NAPTR 1 1 "u" "x" "${text.replace(/[\\"]/g, '\\$&')}" .\n`,
      '$TTL 60\n@ SOA a. b. 1 1 1 1 1\n@ NS a.\n',
    )
  expect(() => named(zone(rightSubstitutions))).not.toThrow()
  for (const text of wrongSubstitutions) expect(() => named(zone([text]))).toThrow()
})
