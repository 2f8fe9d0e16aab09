// Counts requests of the API by route and status.

export interface RequestCount {
  readonly method: string
  /** As the table of routes has it, or `other`. */
  readonly route: string
  readonly status: number
  readonly count: number
}

/** What no route of ours has asked for: a client must not be able to add a series. */
const otherRoute = 'other'

/** Its size is bounded: by the routes, and the statuses that they answer with. */
export class RequestCounts {
  readonly #counts = new Map<string, { -readonly [Key in keyof RequestCount]: RequestCount[Key] }>()

  /** @param path of the row of the route; undefined: of none */
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
