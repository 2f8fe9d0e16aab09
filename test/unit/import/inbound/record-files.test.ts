// What a zone transfer makes of the files of a zone: which are written, which stay, what is not.
import { describe, expect, test } from 'vitest'
import { etagOf } from '#config/entry.ts'
import type { ConfigEntry } from '#config/entry.ts'
import type { Operation } from '#config/operation.ts'
import { RecordList } from '#dns/zone-file/record-list.ts'
import { parseRdata, rdataTypeNamed } from '#dns/rdata/rdata-types.ts'
import type { ZoneRecord } from '#dns/zone-file/zone-record.ts'
import { Random } from '#lib/random.ts'
import { expiryOf, filesOf } from '#import/inbound/record-files.ts'
import type { FilesPlan, InboundFiles } from '#import/inbound/record-files.ts'
import { isAsItCame } from '#import/inbound/zone-digest.ts'
import type { RecordSet, RecordsSpec } from '#schemas/objects/records.ts'
import type { ZoneChange } from '#zones/inbound/transfer-reader.ts'
import { wireName } from '#test/support/dns/wire-name.ts'
import { finished } from '#test/support/finished.ts'
import { testSeed } from '#test/support/random.ts'

const name = 'example.com.'
const zone = wireName(name)
const timers = { refresh: 3_600, retry: 600, expire: 86_400 }
const soaOf = (serial: number) => ({ serial, ...timers })

/** @param line `www 300 A 192.0.2.1`, with names in the data whole */
function record(line: string): ZoneRecord {
  const [owner = '', ttl = '', typeName = '', ...rest] = line.split(' ')
  const type = rdataTypeNamed(typeName)!
  const rdata = parseRdata(type, rest.join(' '), zone)
  if (!rdata.ok) throw new Error(`${line}: expected ${rdata.error.expected}`)
  const whole = owner === '@' ? name : `${owner}.${name}`
  return { owner: wireName(whole), ttl: Number(ttl), type: type.code, rdata: rdata.value }
}

function listOf(lines: readonly string[]): RecordList {
  const list = new RecordList()
  for (const line of lines) list.add(record(line), { text: 0, position: 1 })
  return list
}

/** Files as a node would have them after operations. */
class Files {
  #made = 0
  entries: ConfigEntry<'Records'>[] = []
  isSigned = false
  /** Names of files of people. */
  readonly others = new Set<string>()

  get view(): InboundFiles {
    return {
      ...{ name, zone, tenant: 'default', isSigned: this.isSigned, entries: this.entries },
      isTaken: (one) => this.others.has(one),
    }
  }

  take(operations: readonly Operation[]): void {
    for (const operation of operations) {
      if (operation.verb === 'create' && operation.kind === 'Records') {
        const uid = `u${this.#made++}`
        this.entries.push(
          this.#entry(uid, operation.name, operation.spec as unknown as RecordsSpec),
        )
      } else if (operation.verb === 'update' || operation.verb === 'delete') {
        const { uid } = operation.target as { uid: string }
        const at = this.entries.findIndex((entry) => entry.uid === uid)
        const before = this.entries[at]!
        if (operation.verb === 'delete') this.entries.splice(at, 1)
        else {
          const fields = Object.entries({ ...before.object.spec, ...operation.patch })
          const spec = Object.fromEntries(fields.filter(([, value]) => value !== null))
          this.entries[at] = this.#entry(uid, before.name, spec as unknown as RecordsSpec)
        }
      }
    }
  }

  #entry(uid: string, own: string, spec: RecordsSpec): ConfigEntry<'Records'> {
    const object = { apiVersion: 'gslb/v1', kind: 'Records', metadata: { name: own, uid }, spec }
    const about = { kind: 'Records', tenant: 'default', uid, name: own, path: own, blobId: own }
    return { ...about, object } as unknown as ConfigEntry<'Records'>
  }

  sets(): readonly string[] {
    return this.entries
      .flatMap(({ object }) => object.spec.records)
      .map(({ name: owner, type, ttl, values }: RecordSet) =>
        [owner, ttl ?? 3_600, type, values.join(' | ')].join(' '),
      )
      .sort()
  }

  /** A person writes a file. */
  write(at: number, patch: Partial<RecordsSpec>): void {
    const { uid, name: own, object } = this.entries[at]!
    this.entries[at] = this.#entry(uid, own, { ...object.spec, ...patch })
  }

  get isAsItCame(): boolean {
    return finished(isAsItCame(this.entries))
  }

  whole(lines: readonly string[], serial = 1): FilesPlan {
    const plan = finished(
      filesOf(this.view, { is: 'whole', soa: soaOf(serial), records: listOf(lines) }),
    )
    if (!plan.ok) throw new Error(plan.error.reason)
    this.take(plan.value.operations)
    return plan.value
  }

  changed(added: readonly string[], removed: readonly string[], serial: number) {
    const changes: ZoneChange[] = [
      ...removed.map((line) => ({ isAdded: false, record: record(line) })),
      ...added.map((line) => ({ isAdded: true, record: record(line) })),
    ]
    const plan = finished(filesOf(this.view, { is: 'changes', soa: soaOf(serial), changes }))
    if (plan.ok) this.take(plan.value.operations)
    return plan
  }
}

test('a zone becomes record sets, without what gslb.yaml and signing make', () => {
  const files = new Files()
  files.isSigned = true
  files.whole([
    '@ 300 NS ns1.example.com.',
    '@ 300 MX 10 mail.example.com.',
    'www 300 A 192.0.2.2',
    'www 300 A 192.0.2.1',
    'www 3600 TXT "a b"',
    '@ 300 DNSKEY \\# 4 01010300',
    'sub 300 NS ns1.sub.example.com.',
    'ns1.sub 300 A 192.0.2.54',
    'hidden.sub 300 A 192.0.2.55',
    'sub 300 DS 1 13 2 E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855',
    'old 300 DNAME new.example.net.',
    'x.old 300 A 192.0.2.56',
    '* 300 NS ns1.example.net.',
    '*.d 300 DNAME example.net.',
  ])
  expect(files.sets()).toEqual([
    '@ 300 MX 10 mail',
    'ns1.sub 300 A 192.0.2.54',
    'old 300 DNAME new.example.net.',
    'sub 300 DS 1 13 2 E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855',
    'sub 300 NS ns1.sub',
    'www 300 A 192.0.2.1 | 192.0.2.2',
    'www 3600 TXT "a b"',
  ])
  expect(files.entries.map((entry) => entry.name)).toEqual(['example.com-transferred'])
  expect(files.entries[0]!.object.spec.transfer).toMatchObject({ soa: soaOf(1) })
})

test('a zone that its primary server signs is refused where it is not signed here', () => {
  const files = new Files()
  const key = '@ 300 DNSKEY \\# 4 01010300'
  expect(() => files.whole([key])).toThrow('gslb.yaml has no `dnssec` for it')
})

test('an empty zone is one, too', () => {
  const files = new Files()
  files.whole([])
  expect(files.entries).toHaveLength(1)
  expect(files.whole([]).operations).toEqual([])
})

test('a change writes its own file alone, and the one with the serial', () => {
  const files = new Files()
  const lines = Array.from({ length: 12_000 }, (_, i) => `n${i} 300 A 192.0.2.${i % 250}`)
  files.whole(lines)
  expect(files.entries.map(({ object }) => object.spec.records.length)).toEqual([
    5_000, 5_000, 2_000,
  ])
  expect(files.entries.map(({ object }) => object.spec.transfer?.soa)).toEqual([
    soaOf(1),
    undefined,
    undefined,
  ])
  const { name: last = '' } = files.entries[2]!.object.spec.records[5]!
  const at = lines.find((line) => line.startsWith(`${last} `))!
  const plan = files.changed([`${last} 300 A 198.51.100.1`], [at], 2)
  if (!plan.ok) throw new Error(plan.error.reason)
  expect(plan.value.operations.map(({ verb }) => verb)).toEqual(['update', 'update'])
  expect(plan.value).toMatchObject({ lost: [] })
})

test('a change reads and copies no data of files that it does not touch', () => {
  const files = new Files()
  files.whole(Array.from({ length: 6_000 }, (_, i) => `n${i} 300 A 192.0.2.${i % 250}`))
  let reads = 0
  const [first, second] = files.entries
  const records = second!.object.spec.records.map(({ values, ...set }) => ({
    ...set,
    get values() {
      reads++
      return values
    },
  }))
  const spec = { ...second!.object.spec, records }
  files.entries[1] = { ...second!, object: { ...second!.object, spec } }
  expect(files.isAsItCame).toBe(true)
  reads = 0
  const [{ name: own, values }] = first!.object.spec.records as [RecordSet]
  const plan = files.changed([`${own} 300 A 198.51.100.1`], [`${own} 300 A ${values[0]}`], 2)
  expect(plan).toMatchObject({ ok: true, value: { operations: [{ verb: 'update' }] } })
  expect(reads).toBe(0)
})

test('planning of many changes may pause as often as that of many sets', () => {
  const files = new Files()
  files.whole([])
  const one = record('www 300 A 192.0.2.1')
  const changes: ZoneChange[] = Array.from({ length: 2_560 }, (_, i) => ({
    isAdded: i % 2 === 0,
    record: one,
  }))
  const work = filesOf(files.view, { is: 'changes', soa: soaOf(2), changes })
  let pauses = 0
  while (work.next().done !== true) pauses++
  expect(pauses).toBeGreaterThanOrEqual(20)
})

test('changes make what the whole zone would make', () => {
  const random = new Random(testSeed)
  const zoneLines = new Set<string>()
  const files = new Files()
  files.whole([])
  for (let serial = 2; serial < 40; serial++) {
    const removed = [...zoneLines].filter(() => random.below(5) === 0)
    for (const line of removed) zoneLines.delete(line)
    const added: string[] = []
    for (let i = random.below(6); i > 0; i--) {
      const type = ['A', 'TXT', 'MX'][random.below(3)]!
      const data = { A: `192.0.2.${random.below(9)}`, TXT: `"t${random.below(9)}"`, MX: '10 mail' }
      const line = `n${random.below(12)} 300 ${type} ${data[type as 'A']}`
      if (!zoneLines.has(line)) added.push(line)
      zoneLines.add(line)
    }
    const plan = files.changed(added, removed, serial)
    if (!plan.ok) throw new Error(plan.error.reason)
    const whole = new Files()
    whole.whole([...zoneLines], serial)
    expect(files.sets()).toEqual(whole.sets())
    expect(files.whole([...zoneLines], serial).operations).toEqual([])
  }
})

describe('changes that do not fit ask for the whole zone', () => {
  const rows: readonly [string, readonly string[], readonly string[]][] = [
    ['a record that is not there is removed', [], ['www 300 A 192.0.2.9']],
    ['a delegation comes', ['sub 300 NS ns1.example.net.'], []],
    ['a record below a delegation comes', ['x.there 300 A 192.0.2.1'], []],
  ]
  test.each(rows)('%s', (_, added, removed) => {
    const files = new Files()
    files.whole(['www 300 A 192.0.2.1', 'there 300 NS ns1.example.net.'])
    expect(files.changed(added, removed, 2)).toMatchObject({ ok: false, error: { is: 'misfit' } })
  })
})

test('a TTL that changes is the new one, and a file that people have changed is put back', () => {
  const files = new Files()
  files.whole(['www 300 A 192.0.2.1', 'www 300 A 192.0.2.2'])
  const both = ['192.0.2.1', '192.0.2.2']
  files.changed(
    both.map((one) => `www 60 A ${one}`),
    both.map((one) => `www 300 A ${one}`),
    2,
  )
  expect(files.sets()).toEqual(['www 60 A 192.0.2.1 | 192.0.2.2'])
  files.write(0, { records: [{ name: 'www', type: 'A', values: ['203.0.113.1'] }] })
  files.whole(['www 60 A 192.0.2.1'], 3)
  expect(files.sets()).toEqual(['www 60 A 192.0.2.1'])
})

describe('files that people have written are told from those that came, and put back', () => {
  const lines = ['mail 3600 A 192.0.2.2', 'www 300 A 192.0.2.1']
  const mine: RecordSet = { name: 'mine', type: 'A', ttl: 300, values: ['203.0.113.1'] }
  const rows: readonly [string, (files: Files) => void][] = [
    ['a set', (files) => files.write(0, { records: [mine] })],
    [
      'a set more',
      (files) => files.write(0, { records: [...files.entries[0]!.object.spec.records, mine] }),
    ],
    ['no set', (files) => files.write(0, { records: [] })],
    ['the TTL of the file', (files) => files.write(0, { ttl: 60 })],
    ['the digest', (files) => files.write(0, { transfer: { soa: soaOf(1) } })],
  ]
  test.each(rows)('%s', (_, write) => {
    const files = new Files()
    files.whole(lines)
    expect(files.isAsItCame).toBe(true)
    write(files)
    expect(files.isAsItCame).toBe(false)
    const plan = files.changed(['new 300 A 192.0.2.9'], [], 2)
    expect(plan).toMatchObject({ ok: false, error: { is: 'misfit' } })
    // The serial may be the same.
    files.whole(lines, 1)
    expect(files.isAsItCame).toBe(true)
    expect(files.entries[0]!.object.spec.ttl ?? 3_600).toBe(3_600)
    const came = new Files()
    came.whole(lines)
    expect(files.sets()).toEqual(came.sets())
  })
})

test('names that are lost are told, and files that are empty go', () => {
  const files = new Files()
  files.whole(Array.from({ length: 6_000 }, (_, i) => `n${i} 300 A 192.0.2.1`))
  expect(files.entries).toHaveLength(2)
  const plan = files.whole(['n0 300 A 192.0.2.1'], 2)
  expect(plan.lost).toHaveLength(5_999)
  expect(files.entries).toHaveLength(1)
})

test('a zone that has expired is marked in one file, and the mark goes', () => {
  const files = new Files()
  files.whole(['www 300 A 192.0.2.1'])
  files.take(expiryOf(files.view, true))
  const { transfer } = files.entries[0]!.object.spec
  expect(transfer).toMatchObject({ soa: soaOf(1), expired: true })
  expect(files.isAsItCame).toBe(true)
  files.take(expiryOf(files.view, false))
  expect({ ...files.entries[0]!.object.spec.transfer, expired: true }).toEqual(transfer)
  expect(files.sets()).toEqual(['www 300 A 192.0.2.1'])
})

test('all that is written of a zone is written over the files that were read', () => {
  const files = new Files()
  files.whole(Array.from({ length: 6_000 }, (_, i) => `n${i} 300 A 192.0.2.1`))
  const ofHead = () => {
    const [head] = files.entries
    return { target: { uid: head!.uid }, ifMatch: etagOf(head!.object) }
  }
  const lines = files.entries[1]!.object.spec.records.map(({ name: one }) => one)
  const rows: readonly [string, () => readonly Operation[]][] = [
    ['a mark', () => expiryOf(files.view, true)],
    ['a whole zone of the same serial', () => files.whole(['n1 300 A 192.0.2.2']).operations],
    ['a file that goes', () => files.whole([]).operations],
    ['a file that comes', () => files.whole(['n7 300 A 192.0.2.7'], 9).operations],
  ]
  const before = ofHead()
  const changes: ZoneChange[] = [{ isAdded: true, record: record(`${lines[0]} 300 A 192.0.2.9`) }]
  const plan = finished(filesOf(files.view, { is: 'changes', soa: soaOf(1), changes }))
  // The set is in the second file, and the serial the same: the head is written nevertheless.
  if (!plan.ok) throw new Error(plan.error.reason)
  expect(plan.value.operations.map((one) => 'ifMatch' in one)).toEqual([true, true])
  expect(plan.value.operations[0]).toMatchObject(before)
  for (const [what, operations] of rows) {
    const wanted = ofHead()
    const [first, ...others] = operations()
    expect([what, first]).toMatchObject([what, wanted])
    const isOver = (one: Operation) => one.verb === 'create' || 'ifMatch' in one
    expect([what, others.every(isOver)]).toEqual([what, true])
  }
})

test('a new file takes a name that is free, also of files of people', () => {
  const files = new Files()
  files.others.add('example.com-transferred')
  files.whole(['www 300 A 192.0.2.1'])
  expect(files.entries.map((entry) => entry.name)).toEqual(['example.com-transferred-2'])
})
