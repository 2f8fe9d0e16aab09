// Settings that contradict each other, or have no effect.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { portClash, withoutEffect } from '#node/compose/clashing-settings.ts'
import { loadSettings } from '#settings/settings.ts'
import type { Settings } from '#settings/settings.ts'
import { tempDir } from '#test/support/temp-dir.ts'

function settingsIn(text: string): Settings {
  const file = join(tempDir('clash'), 'gslbd.yaml')
  writeFileSync(file, text)
  const settings = loadSettings({ file, env: {}, flags: {} })
  if (!settings.ok) throw new Error(settings.error.join('\n'))
  return settings.value
}

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
  expect(portClash(settingsIn(text))?.split(',')[0]).toBe(clash)
})

const anybody = "{ principal: '*@EXAMPLE.COM', scope: self }"
test.each([
  ['{}', '', []],
  [`{ keytab: /k, grants: [${anybody}] }`, '', []],
  ['{ keytab: /k }', '', ['dns.update.gssTsig.grants is empty']],
  [`{ grants: [${anybody}] }`, '', ['dns.update.gssTsig.keytab is missing']],
  [`{ keytab: /k, grants: [${anybody}] }`, 'roles: [dns]', ['dns.update.gssTsig.keytab']],
])('dns.update.gssTsig: %s %s', (text, roles, sentences) => {
  const found = withoutEffect(settingsIn(`${roles}\ndns: { update: { gssTsig: ${text} } }\n`))
  expect(found.map((sentence) => sentence.split(':')[0])).toEqual(sentences)
})

test.each([
  '{ principal: ann, scope: self }',
  "{ principal: '*@*', scope: self }",
  '{ principal: ann@EXAMPLE.COM }',
  '{ principal: ann@EXAMPLE.COM, scope: "" }',
  '{ principal: ann@EXAMPLE.COM, scope: "*.example.com" }',
  '{ principal: "a b@EXAMPLE.COM", scope: self }',
])('the grant %s is none', (grant) => {
  expect(() => settingsIn(`dns: { update: { gssTsig: { grants: [${grant}] } } }\n`)).toThrow(
    'dns.update.gssTsig.grants',
  )
})

test.each([
  ['axfr: {}', []],
  ['axfr: { allow: [192.0.2.0/24] }', ['dns.axfr.allow has no effect']],
  [
    'axfr: { requireTsig: true, catalog: catalog.example. }',
    ['dns.axfr.requireTsig, dns.axfr.catalog have no effect'],
  ],
  ['axfr: { enabled: true, allow: [192.0.2.0/24] }', []],
])('dns.%s', (text, sentences) => {
  const said = withoutEffect(settingsIn(`dns: { ${text} }`))
  expect(said.map((one) => one.split(', and AXFR')[0])).toEqual(sentences)
})
