// Defines what a choice may use of the query: its address family, service and pool.

/** Which address family the query asks for. Also the offset in per-family columns. */
export const Family = { V4: 0, V6: 1 } as const
export type Family = (typeof Family)[keyof typeof Family]

/** The input of a choice. One per thread; the answer path fills it each time. */
export interface RoutingQuery {
  serviceIndex: number
  poolIndex: number
  family: Family
}
