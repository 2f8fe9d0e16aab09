// Hashes and checks passwords with bcrypt, a few at a time: each takes 0.25 s of CPU.
import { hash as bcryptHash, compare as bcryptCompare } from 'bcrypt'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

export const passwordLimits = {
  lengthMin: 8,
  /** bcrypt ignores further octets. */
  octetsMax: 72,
  atOnceMax: 2,
  waitingMax: 64,
} as const

/** `busy`: the queue is full; another try in a second may succeed. */
type PasswordFault = 'busy'

export class Passwords {
  readonly #cost: number
  #running = 0
  readonly #waiting: (() => void)[] = []
  #decoy: Promise<Result<string, PasswordFault>> | undefined

  /** @param cost 10 to 14 */
  constructor(cost: number) {
    this.#cost = cost
  }

  hash(password: string): Promise<Result<string, PasswordFault>> {
    return this.#inTurn(() => bcryptHash(password, this.#cost))
  }

  /** @param hash null: there is no account; takes as long, and is false */
  async verify(password: string, hash: string | null): Promise<Result<boolean, PasswordFault>> {
    const isLong = octets(password) > passwordLimits.octetsMax
    const against = hash ?? (await this.#decoyHash())
    if (against === null) return err('busy')
    const compared = await this.#inTurn(() => bcryptCompare(password, against))
    return compared.ok ? ok(compared.value && hash !== null && !isLong) : compared
  }

  async #decoyHash(): Promise<string | null> {
    this.#decoy ??= this.hash('nobody has this password')
    const decoy = await this.#decoy
    if (decoy.ok) return decoy.value
    this.#decoy = undefined
    return null
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<Result<T, PasswordFault>> {
    if (this.#running < passwordLimits.atOnceMax) this.#running += 1
    else {
      if (this.#waiting.length >= passwordLimits.waitingMax) return err('busy')
      // Work that ends passes its place on, so the count stays.
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    try {
      return ok(await work())
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#running -= 1
      else next()
    }
  }
}

/** @returns what is wrong with a new password, in a sentence; undefined: nothing */
export function passwordFault(password: string): string | undefined {
  const { lengthMin, octetsMax } = passwordLimits
  if (password.length < lengthMin) return `must have at least ${lengthMin} characters`
  if (octets(password) > octetsMax) return `must have at most ${octetsMax} octets in UTF-8`
  return password.includes('\0') ? 'must not have a NUL' : undefined
}

const octets = (text: string): number => Buffer.byteLength(text, 'utf8')
