// Says what is wrong with GSLB_SECRET_KEY: it is not set, or does not decrypt what is stored.
import { ok } from '#lib/result.ts'
import { refused } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import type { StoreCall } from '#state/ports/store-result.ts'
import type { Users } from '#state/ports/users.ts'
import { unseal } from '#lib/secret-box.ts'

/** @param owners of the secrets, in the plural */
export const withoutSecretKey = (owners: string): Reply =>
  refused(
    503,
    `this node has no GSLB_SECRET_KEY, under which the secrets of ${owners} are stored; set it ` +
      'to the same 64 hexadecimal digits on every node (openssl rand -hex 32 makes some)',
  )

/**
 * Looks at the TOTP secrets of accounts.
 *
 * @returns what is wrong and what to do; null: every active secret can be read
 */
export async function secretKeyFault(
  users: Pick<Users, 'totpCiphertexts'>,
  secretKey: Uint8Array | null,
): StoreCall<string | null> {
  const sealed = await users.totpCiphertexts(1)
  if (!sealed.ok) return sealed
  const [first] = sealed.value
  if (first === undefined) return ok(null)
  if (secretKey === null) {
    return ok(
      'an account has TOTP enabled, but GSLB_SECRET_KEY is not set; set it to the key under ' +
        'which its secret was stored',
    )
  }
  if (unseal(secretKey, first).ok) return ok(null)
  return ok(
    'GSLB_SECRET_KEY is not the key under which the TOTP secrets are stored; set it to that one',
  )
}

/**
 * Says whether the key opens the secrets of a backup.
 *
 * @param hex the value of GSLB_SECRET_KEY
 */
export function sealedText(sealed: string, hex: string | undefined): string {
  const own = 'TSIG keys, keys of signed zones, second factors and other secrets'
  if (hex === undefined) {
    return (
      `${own} are sealed under the GSLB_SECRET_KEY of the node that made the backup: start this ` +
      'one with it (it is not set here, and so was not tried)'
    )
  }
  const key = Buffer.from(hex, 'hex')
  if (key.length === keyBytes && unseal(key, sealed).ok) return `GSLB_SECRET_KEY opens: ${own}`
  return (
    `warning: ${own} are sealed under another GSLB_SECRET_KEY than the one that is set here, and ` +
    'cannot be used: start this node with that of the node that made the backup'
  )
}

const keyBytes = 32
