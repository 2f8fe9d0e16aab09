// Checks of type icmp, as data: how many echo requests a probe sends; no port.
import { count } from './check-field.ts'
import type { ProbeType } from './probe-type.ts'

export const icmp = {
  name: 'icmp',
  does: 'sends echo requests',
  port: 'ignored',
  fields: {
    icmpCount: count({
      minimum: 1,
      maximum: 20,
      default: 3,
      description: 'Echo requests per probe of type `icmp`; one reply is enough.',
    }),
  },
} as const satisfies ProbeType
