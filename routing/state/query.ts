// Defines what a choice may know of the query: its address family, its service and its pool.

/** Which address family the query asks for. Also the offset in per-family columns. */
export const Family = { V4: 0, V6: 1 } as const
export type Family = (typeof Family)[keyof typeof Family]

/** What a decision may know of the query. One per thread; the answer path fills it each time. */
export interface RoutingQuery {
  serviceIndex: number
  poolIndex: number
  family: Family
}
