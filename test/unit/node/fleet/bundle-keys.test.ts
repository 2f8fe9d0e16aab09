import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { SigningKey } from '#bundle/signature/channel.ts'
import { formatPublicKeyLine, privateKeyFromPem } from '#gitops/trust/openssh-key.ts'
import { BundleKeys } from '#node/fleet/bundle-keys.ts'
import { silentLog } from '#test/support/api-ports.ts'
import { newSigningKey } from '#test/support/bundle-models.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const pemOf = ({ publicKey }: SigningKey): string =>
  publicKey.export({ type: 'spki', format: 'pem' }).toString()

const lineOf = ({ privateKey }: SigningKey): string => {
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  return formatPublicKeyLine(privateKeyFromPem(pem, 'node').publicKey, 'node')
}

test('a file holds blocks of PEM and lines of OpenSSH, one beside the other', () => {
  const path = join(tempDir('keys'), 'bundle_keys')
  const [first, second, third] = [newSigningKey(), newSigningKey(), newSigningKey()]
  const lines = [second, third].map((key) => lineOf(key))
  writeFileSync(path, `# of fra1\n${lines[0]}\nof ams1:\n${pemOf(first)}${lines[1]}\n`)
  const opened = BundleKeys.open(path)
  if (!opened.ok) throw new Error(opened.error)
  const ids = opened.value.trusted.map(({ keyId }) => keyId)
  expect(ids).toEqual([first, second, third].map(({ keyId }) => keyId))
})

test('a reader of the list sees the keys last read; a mistake changes nothing', () => {
  const path = join(tempDir('keys'), 'bundle_keys')
  const [before, after] = [newSigningKey(), newSigningKey()]
  writeFileSync(path, pemOf(before))
  const opened = BundleKeys.open(path)
  if (!opened.ok) throw new Error(opened.error)
  const { trusted } = opened.value
  const ids = () => trusted.map(({ keyId }) => keyId)
  expect(ids()).toEqual([before.keyId])
  writeFileSync(path, pemOf(before) + pemOf(after))
  opened.value.reread(silentLog)
  expect(ids()).toEqual([before.keyId, after.keyId])
  const faults: string[] = []
  const log = { ...silentLog, error: (_fields: object, line: string) => void faults.push(line) }
  for (const spoil of [() => writeFileSync(path, 'no key'), () => rmSync(path)]) {
    spoil()
    opened.value.reread(log)
    expect(ids()).toEqual([before.keyId, after.keyId])
  }
  expect(faults).toEqual([
    expect.stringMatching(/^bundle\.keys: .*neither.*; the keys before stay$/) as string,
    expect.stringMatching(/^bundle\.keys: .*does not exist.*; the keys before stay$/) as string,
  ])
})
