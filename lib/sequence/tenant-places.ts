// Limits how much costly work of one tenant is done, or waits, at once: others find a place.

export class TenantPlaces {
  readonly #max: number
  readonly #taken = new Map<string, number>()

  /** @param max places of each tenant */
  constructor(max: number) {
    this.#max = max
  }

  /**
   * @param tenant null: a system administrator asks, for whom there is no limit
   * @returns the function that frees the place; undefined: the tenant has no place left
   */
  enter(tenant: string | null): (() => void) | undefined {
    if (tenant === null) return () => undefined
    const taken = (this.#taken.get(tenant) ?? 0) + 1
    if (taken > this.#max) return undefined
    this.#taken.set(tenant, taken)
    return () => {
      const left = this.#taken.get(tenant)! - 1
      if (left === 0) this.#taken.delete(tenant)
      else this.#taken.set(tenant, left)
    }
  }
}
