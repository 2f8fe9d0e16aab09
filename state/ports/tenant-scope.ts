// The tenants whose rows a call may see. Every call that takes an id takes this too, so none
// forgets it.

/** `every-tenant` is for system administrators and for the program itself. */
export type TenantScope = { readonly tenantId: string } | 'every-tenant'
