// Admits one request of a costly kind at a time for each tenant.

export class OnePerTenant {
  readonly #tenants = new Set<string>()

  /** @returns the function that frees the place; undefined: the tenant has a request already */
  enter(tenant: string): (() => void) | undefined {
    if (this.#tenants.has(tenant)) return undefined
    this.#tenants.add(tenant)
    return () => this.#tenants.delete(tenant)
  }
}
