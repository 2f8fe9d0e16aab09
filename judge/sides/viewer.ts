// Decides which parts of a plan a tenant may see: names and members of others are hidden.

/** null: sees everything. */
export type Viewer = TenantViewer | null

export interface TenantViewer {
  readonly tenant: string
  /**
   * Names with records but without a service that belong to the tenant, absolute and in lower case.
   */
  readonly names: ReadonlySet<string>
}

/** @param tenants of the services of the name, on either side; none: it has no service */
export function seesName(viewer: Viewer, name: string, tenants: readonly string[]): boolean {
  if (viewer === null) return true
  return tenants.includes(viewer.tenant) || viewer.names.has(name)
}

/** @param tenant of a service or a pool; '': of none, so that all may see it */
export function seesTenant(viewer: Viewer, tenant: string): boolean {
  return viewer === null || tenant === '' || tenant === viewer.tenant
}
