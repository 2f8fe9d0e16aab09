// Threads of a node that answers no DNS: none. What it would answer can still be asked of it.
import { ok } from '#lib/result.ts'
import type { DnsThreads } from './threads-port.ts'

const noScripts = { scripts: 0, benched: 0, killed: 0 } as const

/** Nobody reads a generation, so that each is taken over as soon as it is there. */
export const noThreads: DnsThreads = Object.freeze({
  port: 0,
  tcpStats: undefined,
  exchangeStats: undefined,
  scripts: { status: () => noScripts },
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
