// Lists the packet sources. A new one is one file, one line here, and one row of its contract.
import { udpSource } from './udp-source.ts'
import type { UdpPlace } from './udp-socket.ts'

export const packetSources = Object.freeze({ udp: udpSource })

export type SourceName = keyof typeof packetSources
/** A place of any source in the list. */
export type SourcePlace = UdpPlace
