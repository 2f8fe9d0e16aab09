// Tests what is said of faults in lists and mappings: the entry, its key, and where it stands.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadSettings } from '#settings/settings.ts'
import { tempDir } from '#test/support/temp-dir.ts'

function faultsOf(text: string): readonly string[] {
  const file = join(tempDir('misfits'), 'gslbd.yaml')
  writeFileSync(file, text)
  const settings = loadSettings({ file, env: {}, flags: {} })
  return settings.ok ? [] : settings.error.map((line) => line.replace(`${file}:`, ''))
}

const source = (rest: string): string => `discovery:\n  sources:\n    inv: { ${rest} }\n`

describe('an entry that does not fit its list or mapping is named with its place', () => {
  const rows: readonly [title: string, text: string, says: readonly string[]][] = [
    [
      'two names of a certificate',
      'acme:\n  names: [a.example, "bad name", localhost]\n',
      [
        '2:22: acme.names holds "bad name", write a list of names, such as',
        '2:34: acme.names holds "localhost", write a list of names',
      ],
    ],
    [
      'a contact without its domain',
      'acme: { contact: [ops] }',
      ['1:19: acme.contact holds "ops", write a list of e-mail addresses'],
    ],
    [
      'a list that is a word',
      'acme: { contact: ops }',
      ['1:18: acme.contact is "ops", write a li'],
    ],
    [
      'a number in a source, and a tenant',
      source('type: http, url: "http://x.example/", timeout: 3, tenants: [ok, "No"]'),
      [
        '3:59: discovery.sources.inv.timeout is the number 3, write a text such as 30s',
        '3:76: discovery.sources.inv.tenants holds "No", write a text such as',
      ],
    ],
    [
      'the name of a source, and a key of one',
      `${source('type: file, path: /x, c4: x')}    Bad: { type: file }\n`,
      [
        '3:34: discovery.sources.inv has the key "c4", write keys of letters with texts',
        '4:5: discovery.sources has the key "Bad", write names in small letters',
      ],
    ],
    [
      'a source that is one word',
      'discovery: { sources: { inv: dns } }',
      ['1:30: discovery.sources.inv is "dns", write keys of letters with texts, such as { type'],
    ],
    [
      'all faults of texts of a source',
      source('type: http, url: "ftp://x", interval: 0s, path: /a'),
      [
        '3:60: discovery.sources.inv.path is not known for type http',
        '3:29: discovery.sources.inv.url is no address that begins with http',
        '3:50: discovery.sources.inv.interval is "0s", write a duration',
      ],
    ],
    [
      'a misspelt key, and the one that is missing for it',
      'health: { clientCertificates: { a: { cert: /a, kye: /b } } }',
      [
        '1:33: health.clientCertificates.a lacks key, write names in small letters',
        '1:48: health.clientCertificates.a has the key "kye", did you mean "key"?',
      ],
    ],
    [
      'rules of redirects',
      'redirect:\n  challenges:\n    - hosts: []\n      members: ["192.0.2.1:80", x]\n',
      [
        '3:14: redirect.challenges.0.hosts has less than 1 entries, write a list of rules',
        '4:33: redirect.challenges.0.members holds "x", write a list of rules',
      ],
    ],
    [
      'a role that nobody knows',
      'roles: [control, dnz]',
      ['1:18: roles holds "dnz", write [control, dns], [control], [dns] or [agent]'],
    ],
    [
      'a list without what it must hold',
      'auth: { oidc: { scopes: [email] } }',
      ['1:25: auth.oidc.scopes is a list, write a list with openid in it'],
    ],
    [
      'the value of a mapping',
      'auth:\n  oidc:\n    roleMapping:\n      admins: root\n',
      ['4:15: auth.oidc.roleMapping.admins is "root", write values of the claim'],
    ],
    [
      'a list that is too long',
      `acme: { names: [${'a.example, '.repeat(101)}] }`,
      ['1:16: acme.names has more than 100 entries, write a list of names'],
    ],
  ]
  test.each(rows)('%s', (_title, text, says) => {
    const faults = faultsOf(text)
    expect(faults).toHaveLength(says.length)
    says.forEach((words, i) => expect(faults[i]).toContain(words))
  })

  test('but no password', () => {
    const faults = faultsOf(source('type: http, password: 123456, token: 123456')).join('\n')
    expect(faults).toContain('discovery.sources.inv.password is what is not of the right form')
    expect(faults).not.toContain('123456')
  })

  test('and at most a hundred of them', () => {
    expect(faultsOf(`dns: { rrl: { exempt: [${'a, '.repeat(500)}] } }`)).toHaveLength(100)
  })
})

test.each([
  ['a key that the file lacks', 'acme: { names: [a.example] }', '1:1: acme.agreeToTerms is not'],
  [
    'a key that is there',
    'dns: {}\nacme: { names: [a.example], agreeToTerms: false }',
    '2:43: acme.agreeToTerms is not true',
  ],
  ['two keys', 'queryLog: { socket: ./a, file: ./b }', '1:21: queryLog.socket and queryLog.file'],
])('settings that do not go together are refused with their place: %s', (_title, text, says) => {
  expect(faultsOf(text)).toEqual([expect.stringContaining(says)])
})
