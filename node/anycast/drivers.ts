// Lists the drivers of BGP daemons. Adding one means a row here, and its settings.
import type { AnycastSection } from '#settings/sections/anycast.ts'
import { createBirdDriver } from '#server/anycast/bird.ts'
import type { AnycastDriver } from '#server/anycast/driver.ts'
import { createExabgpDriver } from '#server/anycast/exabgp.ts'

/** The settings of a driver, as they are sent to the process that guards a node. */
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

/** The driver of the settings; null: nothing is announced. */
export const driverOf = (section: DriverSection): AnycastDriver | null =>
  drivers[section.driver](section)
