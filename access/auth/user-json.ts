// Defines the JSON of a user, as clients read and write it.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { hiddenSigns, textPattern } from '#lib/text/patterns.ts'
import { userLimits } from '#state/ports/users.ts'
import type { User } from '#state/ports/users.ts'
import { passwordLimits } from './passwords.ts'
import { unixSeconds, UnixSeconds } from '#http/shapes.ts'

/** Only fields that are named here are sent: no password and no secret. */
export const UserJson = Type.Object(
  {
    id: Type.String(),
    email: Type.String(),
    displayName: Type.String(),
    role: Type.String(),
    tenantId: Type.String(),
    authProvider: Type.Enum(['password', 'oidc']),
    totpEnabled: Type.Boolean(),
    createdAt: UnixSeconds,
    updatedAt: UnixSeconds,
  },
  { title: 'User' },
)
export type UserJson = Static<typeof UserJson>

export function toUserJson(user: User): UserJson {
  const { id, email, displayName, role, tenantId, authProvider, totp } = user
  return {
    id,
    email,
    displayName,
    role,
    tenantId,
    authProvider,
    totpEnabled: totp?.active ?? false,
    createdAt: unixSeconds(user.createdAtMs),
    updatedAt: unixSeconds(user.updatedAtMs),
  }
}

export const Email = Type.String({
  pattern: `^[^\\s@${hiddenSigns}]+@[^\\s@${hiddenSigns}]+$`,
  maxLength: userLimits.emailLengthMax,
  'x-expected': `an e-mail address of at most ${userLimits.emailLengthMax} characters`,
})
/** For a login: any text, so that a wrong one only fails the login. */
export const AnyText = Type.String({
  maxLength: 1_024,
  // Databases store no NUL in a text.
  pattern: '^[^\\u0000]*$',
  'x-expected': 'a text of at most 1024 characters, none of them U+0000',
})
export const NewPassword = Type.String({
  minLength: passwordLimits.lengthMin,
  maxLength: passwordLimits.octetsMax,
})
export const DisplayName = Type.String({
  maxLength: 200,
  pattern: textPattern,
  'x-expected': 'a text on one line of at most 200 characters',
})
export const RoleName = Type.String({
  pattern: '^[A-Za-z0-9_][A-Za-z0-9_. -]{0,62}$',
  'x-expected': 'a name of 1 to 63 letters, digits, spaces and _ . -',
})
