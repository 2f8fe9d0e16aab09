// Admits one request of a costly kind at a time for each tenant.

export class OnePerTenant {
  readonly #tenants = new Set<string>()

  /** @returns what ends it; undefined: there is one already */
  enter(tenant: string): (() => void) | undefined {
    if (this.#tenants.has(tenant)) return undefined
    this.#tenants.add(tenant)
    return () => this.#tenants.delete(tenant)
  }
}
