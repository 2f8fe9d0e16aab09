// The example of docs/operations/zone-push.md, as it stands there, and what is wrong with others.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadSettings } from '#settings/settings.ts'
import { pushDefaults, pushTypes } from '#settings/pushes/zone-push.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const page = readFileSync('docs/operations/zone-push.md', 'utf8')

function load(text: string) {
  const file = join(tempDir('settings'), 'gslbd.yaml')
  writeFileSync(file, text)
  return loadSettings({ file, env: {}, flags: {} })
}

test('the targets of the page are settings that a node takes', () => {
  const [, example = ''] = /^ {4}# gslbd\.yaml of each control node\n([^]*?)\n\S/m.exec(page) ?? []
  const read = load(example.replaceAll(/^ {4}/gm, ''))
  expect(read.ok && Object.keys(read.value.zonePush.targets)).toEqual(['aws', 'edge', 'lab'])
})

test('the table of the page has each key with its default', () => {
  const rows = [...page.matchAll(/^\| `(\w+)` +\|(?: `([^`]*)`)? +\|/gm)]
  const named = new Map(rows.map(([, key = '', byDefault]) => [key, byDefault]))
  for (const { needs, may } of Object.values(pushTypes)) {
    for (const key of [...needs, ...may]) expect(named.has(key), key).toBe(true)
  }
  for (const [key, value] of Object.entries(pushDefaults))
    expect(named.get(key)).toBe(String(value))
})

test.each(['https://c.example', 'http://127.0.0.1:8', 'http://[::1]:8', 'http://localhost:8'])(
  'another API may be at %s',
  (url) => {
    const target = `type: route53, zone: example.com, zoneId: Z1, url: "${url}"`
    expect(load(`zonePush: { targets: { mirror: { ${target} } } }`).ok).toBe(true)
  },
)

describe('what cannot be a target', () => {
  const cloud = 'type: route53, zone: example.com, zoneId: Z1'
  const lab = 'type: rfc2136, zone: example.com, keyFile: /k'
  test.each([
    ['zone: example.com', '.type is missing; the types are rfc2136, route53, cloudflare'],
    ['type: ns1, zone: example.com', '.type is "ns1", which is not known; the types are'],
    ['type: cloudflare, zoneId: c1', '.zone is missing; write it'],
    ['type: cloudflare, zone: example.com', '.zoneId is missing; write it'],
    [`${cloud}, server: 192.0.2.1`, '.server is not known for type route53; it may have type,'],
    [`${cloud}, interval: 5s`, '.interval is "5s", write a duration from 30s to 24h, such as 5m'],
    [`${cloud}, mode: sometimes`, '.mode is "sometimes", write auto or manual'],
    [`${cloud}, services: all`, '.services is "all", write answer or skip'],
    [`${cloud}, followHealth: "yes"`, '.followHealth is "yes", write true or false'],
    [`${cloud}, deletesMax: -1`, '.deletesMax is -1, write a whole number from 0 to 100000'],
    [`${cloud}, url: "https://a:b@c.example"`, '.url is "https://a:b@c.example", write an address'],
    [
      `${cloud}, url: "http://c.example"`,
      '.url is "http://c.example", write an address that begins',
    ],
    [`${cloud}, url: "ftp://127.0.0.1"`, '.url is "ftp://127.0.0.1", write an address that begins'],
    ['type: route53, zone: "a..b", zoneId: Z1', '.zone is "a..b", write the name of a zone'],
    ['type: route53, zone: a.b, zoneId: "a/b"', '.zoneId is "a/b", write the id of the zone'],
    [`${lab}, server: ns1.example.net`, '.server is "ns1.example.net", write an address, with a'],
    [`${lab}, server: "192.0.2.1:70000"`, '.server is "192.0.2.1:70000", write an address'],
    [
      'type: rfc2136, zone: a.b, server: 192.0.2.1, keyFile: k',
      '.keyFile is "k", write an absolute path',
    ],
  ])('%s', (written, fault) => {
    const read = load(`zonePush: { targets: { mirror: { ${written} } } }`)
    expect(read.ok ? [] : read.error).toHaveLength(1)
    expect(read.ok ? '' : read.error[0]).toContain(`zonePush.targets.mirror${fault}`)
  })
})
