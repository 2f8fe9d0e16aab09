// Tells which parts of a plan a tenant may see: names and members of others are not shown.

/** null: sees everything. */
export type Viewer = TenantViewer | null

export interface TenantViewer {
  readonly tenant: string
  /** Names of its own without a service, absolute and in lower case: where it has records. */
  readonly names: ReadonlySet<string>
}

/** @param tenants of its services, on either side; none: the name has no service */
export function seesName(viewer: Viewer, name: string, tenants: readonly string[]): boolean {
  if (viewer === null) return true
  return tenants.includes(viewer.tenant) || viewer.names.has(name)
}

/** @param tenant of a service or a pool; '': of nobody, and public */
export function seesTenant(viewer: Viewer, tenant: string): boolean {
  return viewer === null || tenant === '' || tenant === viewer.tenant
}
