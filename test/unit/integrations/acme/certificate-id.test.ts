import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { certificateId } from '#integrations/acme/certificate-id.ts'
import { certificateOfRfc } from '#test/support/certificates.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { makeTlsFiles } from '#test/support/tls-files.ts'

test('a certificate is called as RFC 9773 has it, whatever follows it in the chain', () => {
  const id = 'aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE'
  expect(certificateId(certificateOfRfc)).toBe(id)
  const other = readFileSync(makeTlsFiles(tempDir('id'), 'other').certFile, 'utf8')
  expect(certificateId(`${certificateOfRfc}${other}`)).toBe(id)
})

test.each(['', 'none', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'])(
  '%j has no such name',
  (chain) => {
    expect(certificateId(chain)).toBeNull()
  },
)
