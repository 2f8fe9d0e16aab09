// What a server beside us gets of a zone: balanced names, delegations, texts written at run time.
import assert from 'node:assert/strict'
import { describe, expect, test } from 'vitest'
import type { Bundle } from '#bundle/format/bundle.ts'
import { loadBundle } from '#bundle/load/load.ts'
import { createCompiler } from '#compiler/compile.ts'
import { setsOf } from '#integrations/zone-push/record-sets.ts'
import { RrType } from '#dns/rrtype.ts'
import type { WrittenRrset } from '#zones/dynamic/written-records.ts'
import { mirroredZone } from '#zones/export/mirrored-zone.ts'
import type { MirrorOptions } from '#zones/export/mirrored-zone.ts'
import { addressOfMember } from '#bundle/format/bundle.ts'
import { wireName } from '#test/support/dns/wire-name.ts'
import { sourceFile } from '../../compiler/fixture.ts'
import { top } from '../../compiler/record-files.ts'

const zone = (name: string, server: string): string =>
  `    - { name: ${name}, nameservers: [{ name: ${server}, addresses: [192.0.2.53] }] }\n`
const service = (name: string, pool: string): string =>
  `${top('Service', name)}spec: { domain: ${name}.example.com., pool: ${pool}, ttl: 30 }\n`

const files = {
  'gslb.yaml':
    `${top('Settings', 'settings')}spec:\n  zones:\n` +
    zone('example.com.', 'ns1.example.com.') +
    zone('eu.example.com.', 'ns.eu.example.com.'),
  'tenants/default/records/zone.yaml':
    `${top('Records', 'zone')}spec:\n  zone: example.com.\n  records:\n` +
    '    - { name: _dmarc, type: TXT, values: [\'"v=DMARC1"\'] }\n' +
    '    - { name: alias, type: CNAME, values: [www.example.com.] }\n',
  'tenants/default/pools/web.yaml':
    `${top('Pool', 'web')}spec:\n  members:\n    - { ipAddress: 192.0.2.1, port: 443 }\n` +
    '    - { ipAddress: 192.0.2.2, port: 443, weight: 0 }\n' +
    '    - { ipAddress: "2001:db8::1", port: 443 }\n' +
    '    - { ipAddress: 192.0.2.9, port: 443, enabled: false }\n',
  'tenants/default/pools/cdn.yaml':
    `${top('Pool', 'cdn')}spec:\n  answer: cname\n` +
    '  members: [{ hostname: cdn.example.net., port: 443 }]\n',
  'tenants/default/services/www.yaml': service('www', 'web'),
  'tenants/default/services/img.yaml': service('img', 'cdn'),
}

function bundle(): Bundle {
  const sources = Object.entries(files).map(([path, text]) => sourceFile(path, text))
  const result = createCompiler().compile(sources, { commit: '' })
  assert(result.ok, result.ok ? '' : JSON.stringify(result.diagnostics))
  const loaded = loadBundle(result.bundle.bytes)
  assert(loaded.ok)
  return loaded.value
}

function lines(options: Partial<MirrorOptions> = {}, zone = 'example.com.'): readonly string[] {
  const given = { hasServices: true, written: [], ...options }
  const records = mirroredZone(bundle(), wireName(zone), given)
  const sets = [...setsOf(records ?? expect.unreachable('no zone')).values()]
  return sets
    .map(
      ({ owner, ttlSeconds, type, values }) => `${owner} ${ttlSeconds} ${type} ${values.join(' ')}`,
    )
    .sort()
}

const www = ['www.example.com. 30 A 192.0.2.1 192.0.2.2', 'www.example.com. 30 AAAA 2001:db8::1']

test('all enabled members stand for a balanced name, an alias for its own; no SOA is there', () => {
  const all = lines()
  expect(all).toEqual(
    expect.arrayContaining([...www, 'img.example.com. 30 CNAME cdn.example.net.']),
  )
  expect(all.filter((line) => line.startsWith('eu.'))).toHaveLength(1)
  expect(all.filter((line) => line.startsWith('ns.eu.'))).toHaveLength(1)
  expect(all.filter((line) => line.includes(' SOA '))).toEqual([])
  expect(lines({ hasServices: false }).filter((line) => /^(www|img)/.test(line))).toEqual([])
})

test('members that are down are left out, unless all are', () => {
  const now = bundle()
  const isDown = (member: number): boolean => addressOfMember(now, member) === '192.0.2.1'
  expect(lines({ isDown })).toContain('www.example.com. 30 A 192.0.2.2')
  expect(lines({ isDown: () => true })).toEqual(lines())
})

describe('records that were written at run time', () => {
  const text = { type: RrType.TXT, ttlSeconds: 60, values: [Buffer.from('\x03new')] }
  const address = { type: RrType.A, ttlSeconds: 60, values: [Buffer.from([192, 0, 2, 99])] }
  const written = (name: string, ...rrsets: readonly WrittenRrset[]) => [
    { name: wireName(name), rrsets },
  ]
  test.each([
    [
      'in the zone',
      '_acme-challenge.www.example.com.',
      '_acme-challenge.www.example.com. 60 TXT "new"',
    ],
    ['beside static ones', '_dmarc.example.com.', '_dmarc.example.com. 60 TXT "new" "v=DMARC1"'],
    ['in a zone below', 'x.eu.example.com.', undefined],
    ['in no zone', 'x.example.net.', undefined],
    ['where an alias is', 'alias.example.com.', undefined],
  ])('%s', (_, name, line) => {
    const more = lines({ written: written(name, text) }).filter((one) => !lines().includes(one))
    expect(more).toEqual(line === undefined ? [] : [line])
  })

  test('stand at names of their own, and never in place of what is declared', () => {
    const host = lines({ written: written('host.example.com.', address) })
    expect(host).toContain('host.example.com. 60 A 192.0.2.99')
    expect(lines({ written: written('www.example.com.', address) })).toEqual(lines())
  })
})

test('a zone that is not there is none', () => {
  const given = { hasServices: true, written: [] }
  expect(mirroredZone(bundle(), wireName('example.org.'), given)).toBeUndefined()
})
