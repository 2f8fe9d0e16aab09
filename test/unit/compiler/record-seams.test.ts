// Records beside services, zones and name servers: what the encoder and the answers rely on.
import { describe, expect, test } from 'vitest'
import { createCompiler } from '#compiler/compile.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import { placesOf, sourceFile } from './fixture.ts'

const top = (kind: string, name: string): string =>
  `apiVersion: gslb/v1\nkind: ${kind}\nmetadata: { name: ${name} }\n`
/** Each zone on a line of its own, from line 6 on. */
const settings = (...zones: readonly string[]): SourceFile =>
  sourceFile(
    'gslb.yaml',
    `${top('Settings', 'settings')}spec:\n  zones:\n${zones.map((one) => `    - ${one}\n`).join('')}`,
  )
const zone = (name: string, server = '{ name: ns1.example.net. }'): string =>
  `{ name: ${name}, nameservers: [${server}] }`
const own = settings(zone('example.com.'))
/** Each set on a line of its own, from line 7 on. */
const records = (...sets: readonly string[]): SourceFile =>
  sourceFile(
    'tenants/default/records/zone.yaml',
    `${top('Records', 'zone')}spec:\n  zone: example.com.\n  records:\n` +
      sets.map((set) => `    - ${set}\n`).join(''),
  )
const service = (domain: string): SourceFile =>
  sourceFile(
    'tenants/default/services/www.yaml',
    `${top('Service', 'www')}spec: { domain: "${domain}", pool: null }\n`,
  )

const cut = '{ name: eu, type: NS, values: [ns.example.org.] }'
const dname = '{ name: old, type: DNAME, values: [example.net.] }'
const ds = '1 13 1 2BB183AF5F22588179A53B0A98631FAD1A292118'
const inRecords = 'tenants/default/records/zone.yaml'
const inService = 'tenants/default/services/www.yaml:4:17'

/** `other`: the second place, where there is one. */
const cases: readonly [string, readonly SourceFile[], readonly string[], RegExp | null][] = [
  [
    'a service at a cut',
    [own, records(cut), service('eu.example.com.')],
    [`${inService} service-at-cut`],
    /zone\.yaml/,
  ],
  [
    'a service below a cut',
    [own, records(cut), service('a.b.eu.example.com.')],
    [`${inService} record-below-cut`],
    /zone\.yaml/,
  ],
  [
    'a wildcard service below a cut',
    [own, records(cut), service('*.eu.example.com.')],
    [`${inService} record-below-cut`],
    /zone\.yaml/,
  ],
  [
    'a service below a DNAME',
    [own, records(dname), service('a.old.example.com.')],
    [`${inService} record-below-dname`],
    /zone\.yaml/,
  ],
  ['a service beside a DNAME', [own, records(dname), service('old.example.com.')], [], null],
  ...(['A', 'AAAA', 'CNAME'] as const).map((type): (typeof cases)[number] => {
    const value = { A: '192.0.2.1', AAAA: '"2001:db8::1"', CNAME: 'example.net.' }[type]
    return [
      `${type} records beside a service`,
      [
        own,
        records(`{ name: www, type: ${type}, values: [${value}] }`),
        service('www.example.com.'),
      ],
      [`${inRecords}:7:26 record-beside-service`],
      /www\.yaml/,
    ]
  }),
  [
    'texts beside a service that is an alias',
    [
      own,
      records('{ name: www, type: TXT, values: [text] }'),
      sourceFile(
        'tenants/default/pools/cdn.yaml',
        `${top('Pool', 'cdn')}spec:\n  answer: cname\n` +
          '  members: [{ hostname: lb.example.net., port: 443 }]\n',
      ),
      sourceFile(
        'tenants/default/services/www.yaml',
        `${top('Service', 'www')}spec: { domain: www.example.com., pool: cdn }\n`,
      ),
    ],
    [`${inRecords}:7:26 record-beside-cname`],
    /www\.yaml/,
  ],
  [
    'a delegation of every name',
    [own, records('{ name: "*", type: NS, values: [ns.example.org.] }')],
    [`${inRecords}:7:26 record-wildcard-type`],
    null,
  ],
  [
    'a DNAME of every name',
    [own, records('{ name: "*.a", type: DNAME, values: [example.net.] }')],
    [`${inRecords}:7:28 record-wildcard-type`],
    null,
  ],
  [
    'DS at the apex of a zone whose parent is not ours',
    [own, records(`{ name: "@", type: DS, values: ["${ds}"] }`)],
    [`${inRecords}:7:26 ds-without-cut`],
    null,
  ],
  [
    'DS of a name that is not delegated',
    [own, records(`{ name: eu, type: DS, values: ["${ds}"] }`)],
    [`${inRecords}:7:25 ds-without-cut`],
    null,
  ],
  [
    'addresses of a name server of the settings',
    [
      settings(zone('example.com.', '{ name: ns1.example.com., addresses: [192.0.2.53] }')),
      records(
        '{ name: ns1, type: A, values: [192.0.2.53] }',
        '{ name: ns1, type: AAAA, values: ["2001:db8::53"] }',
        '{ name: ns1, type: TXT, values: [text] }',
      ),
    ],
    [`${inRecords}:7:26 record-is-nameserver`, `${inRecords}:8:26 record-is-nameserver`],
    /gslb\.yaml/,
  ],
  [
    'a cut at a name server of the settings',
    [
      settings(zone('example.com.', '{ name: ns1.eu.example.com., addresses: [192.0.2.53] }')),
      records('{ name: eu, type: NS, values: [ns1.eu] }'),
    ],
    [],
    null,
  ],
  [
    'a cut at a zone of ours',
    [settings(zone('example.com.'), zone('eu.example.com.')), records(cut)],
    [`${inRecords}:7:25 record-of-settings`],
    null,
  ],
  [
    'a DNAME above a zone of ours',
    [settings(zone('example.com.'), zone('a.old.example.com.')), records(dname)],
    [`${inRecords}:7:26 record-below-dname`],
    null,
  ],
  [
    'a cut above a zone of ours',
    [settings(zone('example.com.'), zone('a.eu.example.com.')), records(cut)],
    [],
    null,
  ],
]

describe('records beside others', () => {
  test.each(cases)('%s', (_what, files, places, other) => {
    const result = createCompiler().compile(files, { commit: '' })
    expect(placesOf(result)).toEqual(places)
    expect(result.ok).toBe(places.length === 0)
    for (const { spans } of result.diagnostics) {
      if (other === null) expect(spans).toHaveLength(1)
      else expect(spans[1]?.path).toMatch(other)
    }
  })
})
