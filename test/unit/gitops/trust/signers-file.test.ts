import assert from 'node:assert/strict'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'vitest'
import { readSigners } from '#gitops/trust/signers-file.ts'
import { tempDir } from '../../../support/temp-dir.ts'

function reasonOf(path: string): string {
  const { signers } = readSigners(path)
  assert(!signers.ok)
  return signers.error
}

test('the message for a missing file says how to make it', () => {
  const path = join(tempDir('signers'), 'allowed_signers')
  assert.match(reasonOf(path), /it does not exist\. Make it with "gslbd trust add /)
})

test('the message for an unreadable file says to grant the right, not to make it', () => {
  const path = join(tempDir('signers'), 'allowed_signers')
  // A link to itself: refused to everybody, as a file without rights is to all but root.
  symlinkSync('allowed_signers', path)
  const reason = reasonOf(path)
  assert.match(reason, /cannot be read: ELOOP.*Give the user that gslbd runs as the right to/)
  assert.doesNotMatch(reason, /Make it/)
})
