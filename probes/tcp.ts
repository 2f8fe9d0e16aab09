// Checks of type tcp.
import type { ProbeType } from './probe-type.ts'

export const tcp = {
  name: 'tcp',
  does: 'connects',
  fields: {},
} as const satisfies ProbeType
