// Who has a request of a costly kind under way: a tenant has one at a time.

export class OnePerTenant {
  readonly #tenants = new Set<string>()

  /** @returns what ends it; undefined: there is one already */
  enter(tenant: string): (() => void) | undefined {
    if (this.#tenants.has(tenant)) return undefined
    this.#tenants.add(tenant)
    return () => this.#tenants.delete(tenant)
  }
}
