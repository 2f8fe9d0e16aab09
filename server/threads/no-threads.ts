// The threads of a node that answers no DNS: none. Simulations still work.
import { ok } from '#lib/result.ts'
import type { DnsThreads } from './threads-port.ts'

const noScripts = { scripts: 0, benched: 0, killed: 0 } as const

/** Every generation counts as adopted at once, since no thread reads it. */
export const noThreads: DnsThreads = Object.freeze({
  port: 0,
  tcpStats: undefined,
  exchangeStats: undefined,
  scripts: { status: () => noScripts },
  ahead: { status: () => ({ made: 0, leftOut: 0 }) },
  start: async () => ok({ port: 0 }),
  publish: () => undefined,
  adopted: async () => 'by all' as const,
  haveAdopted: () => true,
  swapMicrosMax: () => 0,
  counters: () => [],
  setKeys: () => undefined,
  sockets: () => [],
  callOffStarts: () => undefined,
  stop: async () => undefined,
})
