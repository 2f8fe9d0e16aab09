// Refuses a start when stored TOTP secrets cannot be decrypted with GSLB_SECRET_KEY. When the
// database is away at the start, an error is logged once it is back.
import { secretKeyFault } from '#access/auth/secret-key.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { After } from '#lib/timer.ts'
import type { Users } from '#state/ports/users.ts'
import type { NodeState } from '#node/stores/state.ts'

interface SecretKeyCheckParts {
  readonly state: Pick<NodeState, 'exists' | 'open'>
  /** null: GSLB_SECRET_KEY is not set. */
  readonly secretKey: Uint8Array | null
  readonly log: Log
  readonly after: After
}

/** Interval of looks at a database that is away. */
const againMs = 5_000

export class SecretKeyCheck {
  readonly #parts: SecretKeyCheckParts
  #callOff = (): void => undefined
  #isClosed = false

  constructor(parts: SecretKeyCheckParts) {
    this.#parts = parts
  }

  /** Errors: a sentence for the operator. */
  async atStart(): Promise<Result<null, string>> {
    const { state, secretKey } = this.#parts
    // A first start has no TOTP secrets, and a database is not created only to look.
    if (!state.exists()) return ok(null)
    const opened = await state.open()
    if (!opened.ok) return opened
    const { users, status } = opened.value
    const fault = await secretKeyFault(users, secretKey)
    if (fault.ok) return fault.value === null ? ok(null) : err(fault.value)
    // An embedded database does not come back by itself, and each try to open it takes a second.
    if (status().kind === 'postgresql') this.#lookLater(users)
    return ok(null)
  }

  close(): void {
    this.#isClosed = true
    this.#callOff()
  }

  #lookLater(users: Users): void {
    if (!this.#isClosed) this.#callOff = this.#parts.after(againMs, () => void this.#look(users))
  }

  async #look(users: Users): Promise<void> {
    const { secretKey, log } = this.#parts
    const fault = await secretKeyFault(users, secretKey)
    if (!fault.ok) return this.#lookLater(users)
    // The node goes on: ending it now would take away its DNS answers, which need no secrets.
    if (fault.value !== null) log.error({}, `${fault.value}, and start the node again: ${until}`)
  }
}

const until =
  'until then nobody who needs a TOTP code can log in, and nobody can set up an authenticator app'
