// Creates the first account of a node that does not run.
import { Passwords, passwordFault } from '#access/auth/passwords.ts'
import { systemAdministrator } from '#access/caller.ts'
import { systemClock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { uuidV7 } from '#lib/uuid.ts'
import type { NewUser } from '#state/ports/users.ts'
import type { PersistentState } from '#state/persistent.ts'
import { withLoneState } from './stopped-state.ts'
import type { Settings } from '#settings/settings.ts'

/** What a person is asked for. */
export interface FirstAccount {
  readonly email: string
  readonly password: string
}

/** Errors: a sentence. Asks nothing when there is an account. */
export async function createAdmin(
  settings: Settings,
  ask: () => Promise<FirstAccount>,
): Promise<Result<string, string>> {
  return withLoneState(settings, (state) => createFirst(state, settings.auth.bcryptCost, ask))
}

const exists = 'there is an account already; log in with it, or create others through the API'

async function createFirst(
  { users }: PersistentState,
  bcryptCost: number,
  ask: () => Promise<FirstAccount>,
): Promise<Result<string, string>> {
  const hasAny = await users.hasAny()
  if (!hasAny.ok) return err(hasAny.error.message)
  if (hasAny.value) return err(exists)
  const { email, password } = await ask()
  if (!/^[^\s@]+@[^\s@]+$/.test(email)) return err('this is no e-mail address; run it again')
  const fault = passwordFault(password)
  if (fault !== undefined) return err(`the password ${fault}; run it again`)
  const hash = await new Passwords(bcryptCost).hash(password)
  if (!hash.ok) return err(hash.error)
  const nowMs = systemClock.nowMs()
  const account: NewUser = {
    id: uuidV7(nowMs),
    email,
    displayName: '',
    ...systemAdministrator,
    authProvider: 'password',
    passwordHash: hash.value,
    createdAtMs: nowMs,
  }
  // Also allowed when all accounts were deleted: the person controls the machine.
  const created = await users.createFirst(account, 'those-left')
  if (created.ok) return ok(`${email} is system administrator`)
  return err(created.error.code === 'not-first' ? exists : created.error.message)
}
