// Checks that GSLB_SECRET_KEY decrypts the stored TOTP secrets of accounts.
import { ok } from '#lib/result.ts'
import type { StoreCall } from '#state/ports/store-result.ts'
import type { Users } from '#state/ports/users.ts'
import { unseal } from '#lib/secret-box.ts'

/** @returns what is wrong and what to do; null: every active secret can be read */
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
