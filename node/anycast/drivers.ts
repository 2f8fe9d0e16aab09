// The table of drivers: how each BGP daemon is told. Adding one means a row here, and its settings.
import type { AnycastSection } from '#settings/sections/anycast.ts'
import { createBirdDriver } from '#server/anycast/bird.ts'
import type { AnycastDriver } from '#server/anycast/driver.ts'
import { createExabgpDriver } from '#server/anycast/exabgp.ts'

/** What a driver is made of; it travels to the process that guards a node. */
export type DriverSection = Pick<AnycastSection, 'driver' | 'addresses' | 'bird' | 'exabgp'>

const drivers: Readonly<
  Record<AnycastSection['driver'], (section: DriverSection) => AnycastDriver | null>
> = {
  none: () => null,
  bird: ({ bird }) => createBirdDriver(bird),
  exabgp: ({ addresses, exabgp }) => {
    const { pipe, routes, attributes } = exabgp
    return createExabgpDriver({ pipe, attributes, routes: routes.length > 0 ? routes : addresses })
  },
}

/** null: nothing is announced. */
export const driverOf = (section: DriverSection): AnycastDriver | null =>
  drivers[section.driver](section)
