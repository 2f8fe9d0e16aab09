// Refuses to start when stored TOTP secrets cannot be decrypted with GSLB_SECRET_KEY; when the
// database is away at the start, logs an error as soon as it is back.
import { secretKeyFault } from '#access/auth/secret-key.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { After } from '#lib/timer.ts'
import type { Users } from '#state/ports/users.ts'
import type { NodeState } from '#node/stores/state.ts'

export interface SecretKeyCheckParts {
  readonly state: Pick<NodeState, 'exists' | 'open'>
  /** null: not set. */
  readonly secretKey: Uint8Array | null
  readonly log: Log
  readonly after: After
}

/** Between two looks at a database that is away. */
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
    // At a first start nobody has TOTP, and making a database takes seconds: who needs it waits.
    if (!state.exists()) return ok(null)
    const opened = await state.open()
    if (!opened.ok) return opened
    const { users, status } = opened.value
    const fault = await secretKeyFault(users, secretKey)
    if (fault.ok) return fault.value === null ? ok(null) : err(fault.value)
    // The embedded database does not come back by itself, and each try to open it takes a second.
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
    // To end now would take away the answers to DNS, which have nothing to do with it.
    if (fault.value !== null) log.error({}, `${fault.value}, and start the node again: ${until}`)
  }
}

const until =
  'until then nobody who needs a TOTP code can log in, and nobody can set up an authenticator app'
