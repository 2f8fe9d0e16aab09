// Importing, compiling and exporting a zone gives the same records.
import { hash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Bundle } from '#bundle/format/bundle.ts'
import type { EncodedBundle } from '#bundle/encode/encode.ts'
import { loadBundle } from '#bundle/load/load.ts'
import { exportZone } from '#zones/export/zone-export.ts'
import { readSourceFile } from '#import/source-file.ts'
import { readYaml } from '#compiler/yaml/document.ts'
import { planImport, settingsWith } from '#import/plan.ts'
import { recordSetsOf } from '#import/record-sets.ts'
import { zoneSettingsOf } from '#import/zone-settings.ts'
import { recordsFiles, SetPrinter } from '#import/records-yaml.ts'
import type { Imported } from '#import/sources/imported.ts'
import { zoneFileSource } from '#import/sources/zone-file.ts'
import { createCompiler } from '#compiler/compile.ts'
import { messageOf } from '#diagnostics/diagnostics.ts'
import { lenientPolicy } from '#settings/check-policy.ts'
import { printYaml } from '#compiler/yaml/edit.ts'
import { printText } from '#diagnostics/print/text.ts'
import { parseName } from '#dns/name.ts'
import { parseZoneFile } from '#dns/zone-file/zone-file.ts'
import { zoneLines } from '#dns/zone-file/zone-writer.ts'
import type { ZoneRecords } from '#dns/zone-file/zone-writer.ts'
import { sourceFile } from '#test/unit/compiler/fixture.ts'
import { laneCount } from '#test/support/lane.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'

const name = parseName('example.com.')
const origin = name.ok ? name.value : new Uint8Array(1)
const head = `$ORIGIN example.com.
$TTL 300
@ SOA ns1 hostmaster 1 14400 3600 604800 30
@ NS ns1
@ NS ns.example.net.
ns1 A 192.0.2.53
target A 192.0.2.99
`

let folder = ''
beforeAll(() => {
  folder = makeTempDir('zone-import')
})
afterAll(() => removeTempDir(folder))

/** The lines of a zone in canonical order, owners in lower case. */
function linesOf(records: ZoneRecords): string[] {
  return [...zoneLines(records, { origin, names: 'relative' })]
    .slice(1)
    .map((line) => line.replace(/^\S+/, (owner) => owner.toLowerCase()))
    .sort()
}

function bundleIn({ bytes }: EncodedBundle): Bundle {
  const loaded = loadBundle(bytes)
  if (!loaded.ok) throw new Error(loaded.error.message)
  return loaded.value
}

function throughConfiguration(text: string): string[] {
  const path = join(folder, 'zone')
  writeFileSync(path, text)
  const file = readSourceFile(path)
  const imported = file.ok ? zoneFileSource.read(file.value, {}) : undefined
  if (imported?.ok !== true) throw new Error(JSON.stringify(imported))
  expectPrinted(imported.value)
  const plan = planImport(imported.value, 'default')
  if (!plan.ok) throw new Error(JSON.stringify(plan.error))
  const settings = settingsWith(undefined, plan.value.settings)
  if (!settings.ok || !('text' in settings.value)) throw new Error('no settings')
  const octets = Buffer.from(settings.value.text)
  const files = [{ path: 'gslb.yaml', octets }, ...plan.value.files]
  const result = createCompiler().compile(
    files.map(({ path: at, octets: content }) => ({
      path: at,
      blobId: hash('sha1', content),
      kind: 'file' as const,
      sizeBytes: content.length,
      bytes: content,
    })),
    { commit: '' },
  )
  if (!result.ok) throw new Error(printText(result))
  return linesOf(exportZone(bundleIn(result.bundle), 'example.com.', 1)!.records)
}

/** Only what they were printed from is checked. */
function expectPrinted(imported: Imported): void {
  const grouped = recordSetsOf(imported)
  if (!grouped.ok) throw new Error(JSON.stringify(grouped))
  const { sets, origin: of } = grouped.value
  const printer = new SetPrinter(sets, of)
  for (const { name: file, octets } of recordsFiles('a', sets, printer)) {
    const all = Array.from(sets, (set) => printer.printed(set))
    expect(readYaml(Buffer.from(octets).toString()).value).toEqual(printer.fileOf(file, all))
  }
}

const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,10}[a-z0-9])?$/)
const octet = fc.integer({ min: 0, max: 255 })
const text = fc.string({ unit: 'grapheme', maxLength: 40 }).map((one) => {
  const escaped = [...Buffer.from(one)].map((sign) => `\\${String(sign).padStart(3, '0')}`)
  return `"${escaped.join('')}"`
})
const value = fc.oneof(
  fc.tuple(octet, octet).map(([a, b]) => `A 192.0.${a}.${b}`),
  fc.tuple(octet, octet).map(([a, b]) => `AAAA 2001:db8::${a.toString(16)}:${b.toString(16)}`),
  fc.array(text, { minLength: 1, maxLength: 3 }).map((parts) => `TXT ${parts.join(' ')}`),
  octet.map((preference) => `MX ${preference} target`),
  octet.map((port) => `SRV 1 2 ${port} target`),
  octet.map((code) => `CAA 0 issue "ca${code}.example.net"`),
  octet.map((priority) => `HTTPS ${priority + 1} . alpn="h2,h3" port=${priority}`),
  fc.uint8Array({ minLength: 1, maxLength: 20 }).map((octets) => {
    return `TYPE65280 \\# ${octets.length} ${Buffer.from(octets).toString('hex')}`
  }),
)
const ttl = fc.constantFrom(0, 60, 300, 2_147_483_647)
const plain = fc
  .tuple(label, ttl, fc.array(value, { minLength: 1, maxLength: 5 }))
  .map(([owner, seconds, values]) => values.map((one) => `x-${owner} ${seconds} ${one}`))
const alias = label.map((owner) => [`cname-${owner} 60 CNAME Target`])
const cut = label.map((owner) => [
  `cut-${owner} 60 NS ns1.cut-${owner}`,
  `cut-${owner} 60 DS 1 13 2 ${'ab'.repeat(32)}`,
  `ns1.cut-${owner} 60 A 192.0.2.1`,
])

test('a zone comes back from its configuration', () => {
  const zones = fc.uniqueArray(fc.oneof(plain, plain, alias, cut), {
    maxLength: 12,
    selector: (lines) => lines[0]!.split(' ')[0],
  })
  fc.assert(
    fc.property(zones, (groups) => {
      const zone = `${head}${groups.flat().join('\n')}\n`
      const { records, faults } = parseZoneFile({ path: 'zone', octets: Buffer.from(zone) })
      expect(faults).toEqual([])
      expect(throughConfiguration(zone)).toEqual(linesOf(records))
    }),
    { numRuns: laneCount(500, 30) },
  )
})

/** Names that meet, and what may be wrong with them. */
const meeting = ['a', 'b', 'a.b', '*', '*.a', 'ns1', 'sub', 'ns.sub', 'x.sub', 'none', 'SUB']
const target = fc.constantFrom(...meeting, 'c.a', 'x.none', 'ns.example.net.', '192.0.2.1', '.')
const clashing = fc.oneof(
  ...['CNAME', 'MX 1', 'SRV 1 2 3', 'NS', 'PTR', 'DNAME', 'HTTPS 1'].map((type) =>
    target.map((name) => `${type} ${name}`),
  ),
  ...['A', 'A', 'AAAA'].map((type) => fc.constant(`${type} ${type === 'A' ? '192.0.2.7' : '::1'}`)),
  fc.constantFrom(`DS 1 13 2 ${'ab'.repeat(32)}`, 'CAA 0 issue "a b"', 'TXT "v=spf1 x"'),
)

test('an import is refused for what a check of all its files would refuse', () => {
  const clashes = fc.array(fc.tuple(fc.constantFrom('@', ...meeting), clashing), { maxLength: 12 })
  fc.assert(
    fc.property(clashes, fc.constantFrom(300, 60), (records, seconds) => {
      const lines = [`ns1 ${seconds} A 192.0.2.53`, ...records.map((one) => one.join(' '))]
      const zone = `${head}${lines.join('\n')}\n`
      const read = zoneFileSource.read({ path: 'zone', octets: Buffer.from(zone) }, {})
      const grouped = read.ok ? recordSetsOf(read.value) : read
      if (!read.ok || !grouped.ok) return
      const { zone: settings, sets } = zoneSettingsOf(grouped.value, 'default')
      const [file] = recordsFiles('a', sets, new SetPrinter(sets, grouped.value.origin))
      const files = [
        sourceFile('gslb.yaml', printYaml({ ...settingsHead, spec: { zones: [settings] } })),
        sourceFile(
          'tenants/default/records/example.com.yaml',
          Buffer.from(file?.octets ?? []).toString(),
        ),
      ]
      const { diagnostics } = createCompiler({ checkPolicy: lenientPolicy }).compile(
        file === undefined ? files.slice(0, 1) : files,
        { commit: '', isOnlyChecked: true },
      )
      const errors = diagnostics.filter(({ severity }) => severity === 'error').map(messageOf)
      const plan = planImport(read.value, 'default')
      const faults = plan.ok ? [] : plan.error.map(({ message }) => message.split('; to do: ')[0])
      expect(faults).toEqual(errors)
    }),
    { numRuns: laneCount(2_000, 200) },
  )
})

const settingsHead = { apiVersion: 'gslb/v1', kind: 'Settings', metadata: { name: 'settings' } }
