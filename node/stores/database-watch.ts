// Watches the database of a running node: logs an error when it is lost, and when it is back.
import { assert } from '#lib/assert.ts'
import type { Log } from '#lib/log.ts'
import type { SqlStatus } from '#state/sql/database/sql.ts'

/** Where the database is, without its URL, and what helps. */
export interface DatabasePlace {
  readonly fields: Readonly<Record<string, string>>
  readonly remedy: string
}

export class DatabaseWatch {
  readonly #log: Log
  readonly #placeOf: (fault: string) => DatabasePlace
  #isLogged = false
  #wasUp = false

  constructor(log: Log, placeOf: (fault: string) => DatabasePlace) {
    this.#log = log
    this.#placeOf = placeOf
  }

  /** True when it was reached at least once since the start. */
  get wasUp(): boolean {
    return this.#wasUp
  }

  /** Takes each status. At the start, the parts that need the database report what they lack. */
  note({ state, fault }: Pick<SqlStatus, 'state' | 'fault'>): void {
    assert(this.#wasUp || !this.#isLogged, 'a database that was never there is not told to be lost')
    if (state === 'up') {
      if (this.#isLogged) this.#log.info(this.#placeOf('').fields, 'the database is reached again')
      this.#isLogged = false
      this.#wasUp = true
    } else if (this.#wasUp && !this.#isLogged) {
      this.#isLogged = true
      const { fields, remedy } = this.#placeOf(fault ?? '')
      this.#log.error(fields, `the database is away: ${fault ?? ''} ${lost} ${remedy}`.trimEnd())
    }
  }
}

const lost = 'Until it is back nobody can log in, and accounts and roles cannot be read or changed.'
