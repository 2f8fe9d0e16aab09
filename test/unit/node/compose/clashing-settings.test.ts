// Two listeners of one node on one port, as the settings have it.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { portClash } from '#node/compose/clashing-settings.ts'
import { loadSettings } from '#settings/settings.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const tls = 'certFile: /c.pem, keyFile: /k.pem'

test.each([
  ['dns: {}', undefined],
  [`dns: { port: 853, tls: { ${tls} } }`, 'dns.port and dns.tls.port are both 853'],
  [
    'dns: { port: 853, tls: { certificates: { a: { cert: /c.pem, key: /k.pem } } } }',
    'dns.port and dns.tls.port are both 853',
  ],
  [
    `dns: { tls: { ${tls}, port: 443 }, https: { enabled: true } }`,
    'dns.tls.port and dns.https.port are both 443',
  ],
  [
    'api: { enabled: true, port: 8888 }\nexternalDns: { enabled: true }',
    'api.port and externalDns.port are both 8888',
  ],
  // Without files nothing listens there.
  ['dns: { port: 853 }', undefined],
  [`dns: { port: 443, tls: { ${tls} } }`, undefined],
])('%s', (text, clash) => {
  const file = join(tempDir('clash'), 'gslbd.yaml')
  writeFileSync(file, text)
  const settings = loadSettings({ file, env: {}, flags: {} })
  if (!settings.ok) throw new Error(settings.error.join('\n'))
  expect(portClash(settings.value)?.split(',')[0]).toBe(clash)
})
