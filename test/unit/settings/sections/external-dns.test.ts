import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadSettings } from '#settings/settings.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const rows: readonly [text: string, said: string | undefined][] = [
  ['', undefined],
  ['externalDns: { tenant: shop }', undefined],
  ['api: { enabled: true }\nexternalDns: { enabled: true, tenant: shop }', undefined],
  [
    'api: { enabled: true }\nexternalDns: { enabled: true, tenant: shop, listenAddr: "::1" }',
    undefined,
  ],
  ['api: { enabled: true }\nexternalDns: { enabled: true, listenAddr: 0.0.0.0 }', undefined],
  ['externalDns: { enabled: true }', 'externalDns.enabled needs api.enabled'],
  [
    'api: { enabled: true }\nexternalDns: { enabled: true, tenant: shop, listenAddr: 0.0.0.0 }',
    'externalDns.tenant lets everybody write who reaches 0.0.0.0',
  ],
  ['externalDns: { tenant: Shop }', 'tenant'],
]
test.each(rows)('%j', (text, said) => {
  const file = join(tempDir('external-dns'), 'gslbd.yaml')
  writeFileSync(file, text)
  const settings = loadSettings({ file, env: {}, flags: {} })
  if (said === undefined) expect(settings).toMatchObject({ ok: true })
  else expect(settings).toMatchObject({ ok: false, error: [expect.stringContaining(said)] })
})
