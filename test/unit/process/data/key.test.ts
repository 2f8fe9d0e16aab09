import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { openNodeKey } from '#process/data/key.ts'
import { tempDir } from '../../../support/temp-dir.ts'

test('the first start makes a key for its owner only, the next ones read the same', () => {
  const dataDir = tempDir()
  const path = join(dataDir, 'keys', 'node.pem')
  const made = openNodeKey(dataDir)
  const read = openNodeKey(dataDir)
  if (!made.ok || !read.ok) throw new Error('there is a key')
  expect(made.value.pem).toBe(readFileSync(path, 'utf8'))
  expect(read.value.pem).toBe(made.value.pem)
  expect(read.value.signing.keyId).toBe(made.value.signing.keyId)
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test.each([
  [0o600, false],
  [0o440, false],
  [0o644, true],
  [0o602, true],
])('a key of mode %o is used; that others may read or change it is said: %s', (mode, isSaid) => {
  const dataDir = tempDir()
  openNodeKey(dataDir)
  const path = join(dataDir, 'keys', 'node.pem')
  chmodSync(path, mode)
  const opened = openNodeKey(dataDir)
  const warning = opened.ok ? opened.value.warning : 'none'
  if (isSaid) expect(warning).toContain(`run: chmod 600 ${path}`)
  else expect(warning).toBeUndefined()
})

const { privateKey: rsa } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const { publicKey } = generateKeyPairSync('ed25519')
const unusable = {
  'an empty file': '',
  'no PEM': 'not a key\n',
  'a key of another type': rsa.export({ type: 'pkcs8', format: 'pem' }).toString(),
  'a public key': publicKey.export({ type: 'spki', format: 'pem' }).toString(),
}

for (const [what, text] of Object.entries(unusable)) {
  test(`${what} is refused with what to do, is left as it is, and is not shown`, () => {
    const dataDir = tempDir()
    openNodeKey(dataDir)
    const path = join(dataDir, 'keys', 'node.pem')
    writeFileSync(path, text)
    const opened = openNodeKey(dataDir)
    const error = opened.ok ? '' : opened.error
    expect(error).toContain(`${path} cannot be used as the node's key: `)
    expect(error).toContain('restore it, or remove it together with')
    expect(error).not.toContain('BEGIN')
    expect(readFileSync(path, 'utf8')).toBe(text)
  })
}
