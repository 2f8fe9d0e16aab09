// Watches whether the first account is still to be made, and logs how to make it.
import { newSetupCode } from '#access/auth/first-setup.ts'
import type { Log } from '#lib/log.ts'
import type { After } from '#lib/timer.ts'
import type { Users } from '#state/ports/users.ts'

interface SetupWatchParts {
  readonly users: Pick<Users, 'hadAny'>
  /** false: nobody may make it over the API, or everybody may do everything. */
  readonly isGuarded: boolean
  readonly log: Log
  readonly after: After
}

/** Interval of looks: another node may make the account, and a database may be away. */
const lookMs = 5_000

export class SetupWatch {
  readonly #parts: SetupWatchParts
  readonly code = newSetupCode()
  #isOpen = false
  #isClosed = false
  #callOff = (): void => undefined

  constructor(parts: SetupWatchParts) {
    this.#parts = parts
  }

  /** Result of the last look; false before the first. */
  readonly isOpen = (): boolean => this.#isOpen

  /** Looks until there is an account, which is final. */
  async look(): Promise<void> {
    const { users, isGuarded, log, after } = this.#parts
    if (!isGuarded) return
    const hadAny = await users.hadAny()
    if (this.#isClosed) return
    if (hadAny.ok && !hadAny.value && !this.#isOpen) log.warn({ setupCode: this.code }, open)
    if (hadAny.ok) this.#isOpen = !hadAny.value
    if (hadAny.ok && hadAny.value) return
    this.#callOff = after(lookMs, () => void this.look())
  }

  close(): void {
    this.#isClosed = true
    this.#callOff()
  }
}

const open =
  'Setup is open: there is no account yet. From this machine POST /api/v1/auth/setup makes it, ' +
  'from another one with this setupCode; or stop the node and run gslbd serve --create-admin. ' +
  'Where there are to be no accounts, set auth.setupEndpoint to false.'
