// Encrypts secrets at rest: AES-256-GCM under GSLB_SECRET_KEY, as text.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

const version = 'v1'
const nonceOctets = 12
const tagOctets = 16

/** @param key 32 octets */
export function seal(key: Uint8Array, secret: string): string {
  const nonce = randomBytes(nonceOctets)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
  const all = Buffer.concat([nonce, cipher.getAuthTag(), text])
  return `${version}.${all.toString('base64url')}`
}

/** Errors: `not-sealed`, no text of `seal`; `wrong-key`, sealed under another key, or altered. */
export function unseal(
  key: Uint8Array,
  sealed: string,
): Result<string, 'not-sealed' | 'wrong-key'> {
  const [head, body = ''] = sealed.split('.', 2)
  const all = Buffer.from(body, 'base64url')
  if (head !== version || all.length < nonceOctets + tagOctets) return err('not-sealed')
  const decipher = createDecipheriv('aes-256-gcm', key, all.subarray(0, nonceOctets), {
    authTagLength: tagOctets,
  })
  decipher.setAuthTag(all.subarray(nonceOctets, nonceOctets + tagOctets))
  try {
    const text = decipher.update(all.subarray(nonceOctets + tagOctets))
    return ok(Buffer.concat([text, decipher.final()]).toString('utf8'))
  } catch {
    return err('wrong-key')
  }
}
