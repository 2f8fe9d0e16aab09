// The table of packet sources. Adding one means one file, one line here, one row of its contract.
import { udpSource } from './udp-source.ts'
import type { UdpPlace } from './udp-socket.ts'

export const packetSources = Object.freeze({ udp: udpSource })

export type SourceName = keyof typeof packetSources
/** A place of any row. */
export type SourcePlace = UdpPlace
