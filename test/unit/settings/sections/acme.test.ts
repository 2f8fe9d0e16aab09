import { expect, test } from 'vitest'
import { loadSettings } from '#settings/settings.ts'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir } from '#test/support/temp-dir.ts'

const names = 'names: [ns1.example.com, "*.example.com"]'
const named = `${names}, agreeToTerms: true`
const pem = '{ cert: /c.pem, key: /k.pem }'
const file = (yaml: string): string => {
  const path = join(tempDir('acme-settings'), 'gslbd.yaml')
  writeFileSync(path, yaml)
  return path
}

test.each([
  ['names with the terms', `acme: { ${names}, agreeToTerms: true }`, undefined],
  ['names without the terms', `acme: { ${names} }`, 'acme.agreeToTerms is not true'],
  [
    'an address',
    'acme: { names: [192.0.2.1], agreeToTerms: true }',
    'acme.names holds "192.0.2.1"',
  ],
  ['a listener without names', 'dns: { tls: { acme: true } }', 'dns.tls.acme needs acme.names'],
  ['the API without names', 'api: { tls: { acme: true } }', 'api.tls.acme needs acme.names'],
  [
    'redirects over https without names',
    'redirect: { enabled: true, port: 80, https: { port: 443, acme: true } }',
    'redirect.https.acme needs acme.names',
  ],
  [
    'redirects over https with names and no files',
    `acme: { ${named} }\nredirect: { enabled: true, port: 80, https: { port: 443, acme: true } }`,
    undefined,
  ],
  [
    'a node that gets it from others',
    'dns: { tls: { acme: true } }\nroles: [dns]\nbundle: { urls: ["https://c.example.com"] }',
    undefined,
  ],
  [
    'files and acme at once',
    `acme: { ${names}, agreeToTerms: true }\ndns: { tls: { acme: true, certFile: a } }`,
    'dns.tls has files and acme',
  ],
  [
    'acme beside certificates of files',
    `acme: { ${named} }\ndns: { tls: { acme: true, certificates: { a: ${pem} } } }`,
    undefined,
  ],
  ['an account with a key', `acme: { ${named}, eab: { kid: a, hmacKeyFile: b } }`, undefined],
  ['an account without a key', `acme: { ${named}, eab: { kid: a } }`, 'acme.eab.hmacKeyFile is'],
  ['a key without an account', `acme: { ${named}, eab: { hmacKeyFile: b } }`, 'acme.eab.kid is'],
  [
    'an account with two keys',
    `acme: { ${named}, eab: { kid: a, hmacKey: c, hmacKeyFile: b } }`,
    'are both there',
  ],
  [
    'HTTPS with listed certificates alone',
    `dns: { tls: { certificates: { a: ${pem} } }, https: { enabled: true } }`,
    undefined,
  ],
  [
    'a listed certificate without its key',
    'dns:\n  tls:\n    certificates:\n      a: { cert: /c.pem }',
    'gslbd.yaml:4:7: dns.tls.certificates.a lacks key',
  ],
  [
    'entries alone, each used by a listener',
    'acme: { agreeToTerms: true, certificates: { a: { names: [a.example.com] } } }\n' +
      'api: { tls: { certificates: { mine: { acme: a } } } }',
    undefined,
  ],
  [
    'an entry for some nodes, and one for none',
    'acme: { agreeToTerms: true, certificates: { a: { names: [a.example.com], nodes: [fra1] }, ' +
      'b: { names: [b.example.com], nodes: [] } } }',
    undefined,
  ],
  [
    'an entry for what is no node',
    'acme: { agreeToTerms: true, certificates: { a: { names: [a.example.com], nodes: ["*"] } } }',
    'acme.certificates',
  ],
  [
    'an entry without the terms',
    'acme: { certificates: { a: { names: [a.example.com] } } }',
    'acme.agreeToTerms is not true',
  ],
  ['an entry without names', 'acme: { certificates: { a: { names: [] } } }', 'acme.certificates'],
  [
    'an entry that is not there',
    `acme: { ${named} }\ndns: { tls: { certificates: { mine: { acme: constructor } } } }`,
    'dns.tls.certificates.mine needs acme.certificates.constructor',
  ],
  [
    'an entry that control nodes know',
    'dns: { tls: { certificates: { mine: { acme: a } } } }\nroles: [dns]\n' +
      'bundle: { urls: ["https://c.example.com"] }',
    undefined,
  ],
  ['half of the files of the API', 'api: { tls: { certFile: a } }', 'api.tls.keyFile is missing'],
  [
    'more names than a certificate may have',
    `acme: { names: [${Array.from({ length: 101 }, (_, i) => `n${i}.example.com`).join()}] }`,
    'acme.names has more than 100 entries',
  ],
  ['a name of one label', 'acme: { names: [localhost] }', 'acme.names'],
  ['a wildcard in the middle', 'acme: { names: ["a.*.example.com"] }', 'acme.names'],
  ['a directory over plain HTTP', 'acme: { directory: "http://ca.test/" }', 'acme.directory'],
  ['a directory with a password', 'acme: { directory: "https://a:b@ca.test/" }', 'acme.directory'],
  ['an address with a header', 'acme: { contact: ["a@b.test?cc=x@y.test"] }', 'acme.contact'],
])('%s', (_what, yaml, says) => {
  const loaded = loadSettings({ file: file(yaml), env: {}, flags: {} })
  if (says === undefined) expect(loaded).toMatchObject({ ok: true })
  else expect(loaded.ok ? [] : loaded.error.join('\n')).toContain(says)
})

test('a key of an account that is wrong is not said', () => {
  const env = { GSLB_ACME_EAB_HMAC_KEY: 'not a key' }
  const loaded = loadSettings({ file: file(`acme: { ${named}, eab: { kid: a } }`), env, flags: {} })
  const said = loaded.ok ? '' : loaded.error.join()
  expect(said).toContain('GSLB_ACME_EAB_HMAC_KEY')
  expect(said).not.toContain('not a key')
})
