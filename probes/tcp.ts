// Checks of type tcp, as data: a connection, and no field of its own.
import type { ProbeType } from './probe-type.ts'

export const tcp = {
  name: 'tcp',
  does: 'connects',
  fields: {},
} as const satisfies ProbeType
