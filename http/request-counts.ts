// Counts requests of the API by route and status.

export interface RequestCount {
  readonly method: string
  /** Path in the table of routes, or `other`. */
  readonly route: string
  readonly status: number
  readonly count: number
}

/** For requests outside of the table, so that no client can add a series. */
const otherRoute = 'other'

/** Bounded by the number of routes and their statuses. */
export class RequestCounts {
  readonly #counts = new Map<string, { -readonly [Key in keyof RequestCount]: RequestCount[Key] }>()

  /** @param path in the table of routes; undefined: not in it */
  note(path: string | undefined, asked: string, status: number): void {
    const route = path ?? otherRoute
    const method = path === undefined ? otherRoute : asked
    const key = `${status} ${method} ${route}`
    const found = this.#counts.get(key)
    if (found === undefined) this.#counts.set(key, { method, route, status, count: 1 })
    else found.count++
  }

  all(): readonly RequestCount[] {
    return [...this.#counts.values()]
  }
}
