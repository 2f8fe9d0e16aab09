// Compares the JSON Schema of the settings file, for editors, with the loader.
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { readSettingsText } from '#settings/file.ts'
import { settingRows } from '#settings/schema.ts'
import { problemsOf } from '#settings/value.ts'
import { settingsJsonSchema } from './settings-reference.ts'

describe('the JSON Schema for editors agrees with the loader', () => {
  const validate = new Ajv2020({ strict: false }).compile(
    JSON.parse(settingsJsonSchema()) as Record<string, unknown>,
  )
  const rows: readonly [string, boolean][] = [
    ['{}', true],
    ['dns: { port: 53, threads: 0, tcp: { idleTimeout: 1m30s } }', true],
    ['logging: { format: text, level: debug }', true],
    ['gitops: { branch: release/1.x, poll: 10s }', true],
    ['dns: { prot: 53 }', false],
    ['dns: { port: 65536 }', false],
    ['dns: { udpPayloadSize: 511 }', false],
    ['gitops: { poll: soon }', false],
    ['gitops: { branch: "a..b" }', false],
    ['logging: { level: loud }', false],
    ['health: { allowScriptChecks: true, webhookAllowedHosts: [10.0.0.1] }', true],
    ['health: { webhookAllowedHosts: 10.0.0.1 }', false],
    ['health: { clientCertificates: { a: { cert: /c.pem, key: /k.pem } } }', true],
    ['health: { clientCertificates: { a: { cert: /c.pem, key: /k.pem, tenants: [b] } } }', true],
    ['health: { clientCertificates: { a: { cert: /c.pem, key: /k.pem, tenants: [B] } } }', false],
    ['health: { clientCertificates: { a: { cert: c.pem, key: /k.pem } } }', false],
    ['health: { clientCertificates: { a: { cert: /c.pem } } }', false],
    ['health: { clientCertificates: { A b: { cert: /c.pem, key: /k.pem } } }', false],
    ['backup: { enabled: true, interval: 15m, keep: 0 }', true],
    ['backup: { interval: soon }', false],
    ['redirect: { enabled: true, port: 80, https: { certificates: {} } }', true],
    ['redirect: { cdn: { zones: [{ zoneId: a }, { zoneId: b, domains: [x.example] }] } }', true],
    ['redirect: { cdn: { zones: [{ domains: [x.example] }] } }', false],
    ['redirect: { https: { certificates: { a: { cert: c.pem, key: /k.pem } } } }', false],
    ['redirect: { nginx: { configFile: a/b } }', false],
    ['redirect: { port: 65536 }', false],
  ]
  test.each(rows)('%s: %s', (text, isValid) => {
    expect(readSettingsText(text, 'gslbd.yaml').ok).toBe(isValid)
    expect(validate(parse(text))).toBe(isValid)
  })
})

test('defaults fit their own schema', () => {
  for (const row of settingRows) {
    if (row.leaf.default !== undefined)
      expect(problemsOf(row, row.leaf.default, 'file')).toEqual([])
    else expect(row.leaf['x-default'], row.key).toBeDefined()
  }
})
