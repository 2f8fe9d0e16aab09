// Says whether the secret key that is set opens what a backup holds.
import { expect, test } from 'vitest'
import { sealedText } from '#access/auth/secret-key.ts'
import { seal } from '#lib/secret-box.ts'

const [own, other] = [7, 8].map((octet) => Buffer.alloc(32, octet).toString('hex'))
const sealed = seal(Buffer.from(own!, 'hex'), 'a secret')

test.each([
  ['opens it', own, /^GSLB_SECRET_KEY opens: TSIG keys/],
  ['is another one', other, /^warning: .* under another GSLB_SECRET_KEY/],
  ['is no key', 'aa', /^warning: .* under another GSLB_SECRET_KEY/],
  ['is not set', undefined, /start this one with it \(it is not set here/],
])('after a restore it is said that GSLB_SECRET_KEY %s', (_what, hex, said) => {
  expect(sealedText(sealed, hex)).toMatch(said)
})
