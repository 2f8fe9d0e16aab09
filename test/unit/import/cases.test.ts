// gslbd import, over exports written from the documentation of their sources: who gets what is what
// it was there, and what is not is said.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { BundleModel, PoolModel } from '#bundle/format/model.ts'
import { readConfigDirectory } from '#gitops/checkout/config-directory.ts'
import type { Simulation } from '#judge/simulate/simulation.ts'
import { Exit } from '#system/process/command.ts'
import { createCompiler } from '#compiler/compile.ts'
import { printText } from '#diagnostics/print/text.ts'
import { rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import { writeMmdb } from '#test/support/mmdb-writer.ts'
import { runCli } from '#test/support/run-cli.ts'
import { tempDir } from '#test/support/temp-dir.ts'

interface Case {
  readonly title: string
  readonly input: unknown
  /** `NAME TYPE from PLACE without ADDRESSES`, and `ADDRESS SHARE, …` or `nothing`. */
  readonly answers?: Readonly<Record<string, string>>
  readonly records?: readonly string[]
  readonly pools?: readonly string[]
  /** All that is changed and not mapped; of what is left out, some. */
  readonly says: readonly string[]
}

const folder = join(import.meta.dirname, '../../fixtures/import/cases')
const casesOf = (source: string): readonly Case[] =>
  parse(readFileSync(join(folder, `${source}.yaml`), 'utf8')) as readonly Case[]

const networks: Readonly<Record<string, readonly [network: string, continent: string]>> = {
  NL: ['10.1.0.0/16', 'EU'],
  DE: ['10.2.0.0/16', 'EU'],
  UA: ['10.3.0.0/16', 'EU'],
  US: ['10.4.0.0/16', 'NA'],
  'US-CA': ['10.5.0.0/16', 'NA'],
  JP: ['10.6.0.0/16', 'AS'],
}
const nowhere = '10.9.0.0/16'

function cities(directory: string): string {
  const path = join(directory, 'city.mmdb')
  const rows = Object.entries(networks).map(([place, [network, continent]]) => {
    const [country, subdivision] = place.split('-')
    const record = {
      country: { iso_code: country! },
      continent: { code: continent },
      ...(subdivision === undefined ? {} : { subdivisions: [{ iso_code: subdivision }] }),
    }
    return [network, record] as const
  })
  writeFileSync(path, writeMmdb({ type: 'Test-City', networks: rows }))
  return path
}

describe.each(['route53', 'cloudflare', 'octodns'])('%s', (source) => {
  test.each(casesOf(source))('$title', async ({ input, answers, records, pools, says }) => {
    const directory = tempDir('import')
    const file = join(directory, 'example.com.yaml')
    writeFileSync(file, JSON.stringify(input, undefined, 1))
    const target = join(directory, 'config')
    const args = ['import', source, file, '-o', target, '--origin', 'example.com']
    const { exit, out, err } = await runCli(...args)
    expect([exit, err]).toEqual([Exit.Ok, ''])
    const model = compiled(target)
    if (records !== undefined) expect(recordsOf(model)).toEqual(records)
    if (pools !== undefined) expect(model.pools.map(shown).sort()).toEqual(pools)
    for (const [question, expected] of Object.entries(answers ?? {})) {
      expect([question, await asked(model, target, question)]).toEqual([question, near(expected)])
    }
    const said = notesOf(out)
    const unmatched = said.filter((note) => !says.some((one) => note.includes(rest(one))))
    expect(unmatched.filter((note) => !note.startsWith('left out'))).toEqual([])
    expect(says.filter((one) => !said.some((note) => isNote(note, one)))).toEqual([])
  })
})

/** The same export with a field that nobody knows in each of its objects. */
function withUnknown(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withUnknown)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).map(([key, one]) => [key, withUnknown(one)] as const)
  return { ...Object.fromEntries(fields), unknown: true }
}

/** Lines of unknown fields that are not told, nor with an object around them. */
function untoldLines(text: string, told: ReadonlySet<number>): number[] {
  const open: { readonly line: number; readonly indent: number }[] = []
  return text.split('\n').flatMap((row, i) => {
    const line = i + 1
    const indent = row.search(/\S/)
    while (open.length > 0 && open.at(-1)!.indent >= indent) open.pop()
    open.push({ line, indent })
    const isUnknown = row.includes('"unknown"')
    return isUnknown && !open.some((one) => told.has(one.line)) ? [line] : []
  })
}

const all = ['route53', 'cloudflare', 'octodns'].flatMap((source) =>
  casesOf(source).map(({ title, input }) => ({ source, title, input })),
)

test.each(all)('$source tells each unknown field: $title', async ({ source, input }) => {
  const directory = tempDir('import')
  const file = join(directory, 'example.com.yaml')
  const text = JSON.stringify(withUnknown(input), undefined, 1)
  writeFileSync(file, text)
  const args = ['import', source, file, '-o', join(directory, 'config'), '--origin', 'example.com']
  const { exit, out, err } = await runCli(...args)
  expect([exit, err]).toEqual([Exit.Ok, ''])
  const told = new Set(
    notesOf(out)
      // What is changed is told of a whole object whose other fields are read on.
      .filter((note) => !note.startsWith('changed'))
      .map((note) => Number(/example\.com\.yaml:(\d+):/.exec(note)?.[1] ?? 1)),
  )
  // There the file begins, and what is said of it is said of none of its fields.
  told.delete(1)
  const folded = [...out.matchAll(/; and (\d+) more$/gm)].reduce(
    (sum, [, more]) => sum + Number(more),
    0,
  )
  expect(untoldLines(text, told)).toHaveLength(folded)
})

const rest = (one: string): string => one.slice(one.indexOf(': ') + 2)
const isNote = (note: string, one: string): boolean =>
  note.startsWith(one.slice(0, one.indexOf(': '))) && note.includes(rest(one))

const isOfEveryZone = /: SOA: | has no NS records/

/** `KIND: PLACE: SENTENCE`. */
function notesOf(out: string): string[] {
  const titles: readonly (readonly [title: string, kind: string])[] = [
    ['taken over otherwise:', 'changed'],
    ['left out:', 'left out'],
    ['not mapped; look at each:', 'not mapped'],
  ]
  let kind = ''
  return out.split('\n').flatMap((line) => {
    kind = titles.find(([title]) => title === line)?.[1] ?? kind
    const isNoted = kind !== '' && line.startsWith('  ') && !isOfEveryZone.test(line)
    return isNoted ? [`${kind}: ${line.trim()}`] : []
  })
}

function compiled(target: string): BundleModel {
  const settings = join(target, 'gslb.yaml')
  const text = readFileSync(settings, 'utf8')
  // octoDNS leaves the name servers of the zone to the provider.
  if (!text.includes('nameservers')) {
    writeFileSync(settings, `${text}  defaults: { nameservers: [{ name: ns1.example.net. }] }\n`)
  }
  const files = readConfigDirectory(target)
  if (!files.ok) throw new Error(files.error)
  const result = createCompiler().compile(files.value, { commit: '' })
  if (!result.ok) throw new Error(printText(result))
  return result.model
}

function recordsOf({ rrsets }: BundleModel): string[] {
  return rrsets
    .flatMap(({ name, type, rdata }) => {
      const { name: typeName, print } = rdataTypeOf(type)
      return rdata.map((one) => `${name} ${typeName} ${print(one)}`)
    })
    .sort()
}

function shown({ name, members, healthCheck: check }: PoolModel): string {
  const texts = members.map(({ ipAddress, hostname, weight, port }) => {
    const isUsual = port === (check?.port ?? 443)
    return `${ipAddress || hostname} w${weight}${isUsual ? '' : ` port ${port}`}`
  })
  if (check === null) return `${name}: ${texts.join(', ')}`
  const counts = `${check.riseCount}/${check.fallCount}`
  const http = [
    check.httpPath,
    check.httpHost,
    ...Object.entries(check.httpHeaders).map(([key, value]) => `${key}=${value}`),
    check.tls ? 'tls' : '',
    check.insecureSkipVerify ? 'insecure' : '',
    check.httpContains === '' ? '' : JSON.stringify(check.httpContains),
    counts === '1/1' ? '' : counts,
  ]
  const how = [check.type, check.port, ...(check.type === 'http' ? http : [])].filter(Boolean)
  return `${name}: ${texts.join(', ')} by ${how.join(' ')}`
}

/** The shares of answers that hold each address, in percent. */
async function asked(model: BundleModel, target: string, question: string) {
  const [, name = '', type = '', place, down] =
    /^(\S+) (\S+)(?: from (\S+))?(?: without (.+))?$/.exec(question) ?? []
  const health = Object.fromEntries(
    model.pools
      .filter(({ healthCheck }) => healthCheck !== null)
      .flatMap((pool) => pool.members.map(({ ipAddress }) => [pool.name, ipAddress] as const))
      .filter(([, address]) => down?.split(', ').includes(address) === true)
      .map(([pool, address]) => [`${pool}/${address}`, false]),
  )
  const healthFile = join(target, '../health.json')
  writeFileSync(healthFile, JSON.stringify(health))
  const client = place === undefined ? nowhere : networks[place]![0]
  const where = ['--config', target, '--geoip', cities(join(target, '..')), '--client', client]
  const how = ['--type', type, '--health', healthFile, '--count', '2000', '--format', 'json']
  const { exit, out, err } = await runCli('simulate', name, ...where, ...how)
  expect([exit, err]).toEqual([Exit.Ok, ''])
  const { service } = JSON.parse(out) as Simulation
  const total = 2000
  return Object.fromEntries(
    (service?.distribution ?? []).map(({ ipAddress, places }) => {
      return [ipAddress, (places.reduce((sum, one) => sum + one, 0) / total) * 100]
    }),
  )
}

/** Dice are thrown. */
function near(expected: string): Readonly<Record<string, unknown>> {
  if (expected === 'nothing') return {}
  const rows = expected.split(', ').map((one) => one.split(' ') as [string, string])
  return Object.fromEntries(
    rows.map(([address, share]) => [address, expect.closeTo(Number(share), -0.8)]),
  )
}
