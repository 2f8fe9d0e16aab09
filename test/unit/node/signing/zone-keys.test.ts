// Tests the keys that a node signs with: its key files, or none where its keys are in a database.
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createZoneKeys } from '#node/signing/zone-keys.ts'
import { bareModel, bundleOf, zone } from '#test/support/bundle-models.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'

const log = { info: () => {}, warn: () => {}, error: () => {}, debug: () => {} }
const bundle = bundleOf({ ...bareModel, zones: [{ ...zone('example.org.'), algorithm: 13 }] })

let dataDir = ''
beforeEach(() => {
  dataDir = makeTempDir('zone-keys')
})
afterEach(() => removeTempDir(dataDir))

test.each([
  ['makes a key file in an empty data directory', false],
  ['makes no key beside a copy of those in a database', true],
])('without GSLB_SECRET_KEY a node %s', (_name, hasCopy) => {
  if (hasCopy) writeFileSync(join(dataDir, 'zone-keys.copy'), 'sealed')
  const keys = createZoneKeys({ roles: ['control', 'dns'] }, dataDir, {}, log, null)
  expect(keys.handedFor(bundle) === null).toBe(hasCopy)
  keys.stop()
  expect(existsSync(join(dataDir, 'dnssec'))).toBe(!hasCopy)
  expect(keys.missing().join()).toContain(hasCopy ? 'set GSLB_SECRET_KEY' : '')
})
