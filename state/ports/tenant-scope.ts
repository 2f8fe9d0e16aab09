// The tenants whose rows a call may see. Every call with an id takes a scope, so none can forget
// it.

/** `every-tenant` is for system administrators and for the program itself. */
export type TenantScope = { readonly tenantId: string } | 'every-tenant'
