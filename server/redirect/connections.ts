// Counts open connections, of all clients and of each.
import type { Socket } from 'node:net'
import { parseAddress } from '#dns/address.ts'
import type { RedirectCounters } from './counters.ts'

export class ConnectionLimit {
  readonly #max: number
  readonly #perClientMax: number
  readonly #counters: RedirectCounters
  readonly #open = new Map<string, number>()
  #total = 0

  constructor(max: number, perClientMax: number, counters: RedirectCounters) {
    this.#max = max
    this.#perClientMax = perClientMax
    this.#counters = counters
  }

  /** Counts a connection, and closes one that is over a limit. */
  admit(socket: Socket): void {
    const key = clientKey(socket.remoteAddress ?? '')
    const open = this.#open.get(key) ?? 0
    if (this.#total >= this.#max || open >= this.#perClientMax) {
      this.#counters.refused()
      socket.destroy()
      return
    }
    this.#total++
    this.#open.set(key, open + 1)
    this.#counters.opened()
    socket.once('close', () => {
      this.#total--
      const left = this.#open.get(key)! - 1
      if (left === 0) this.#open.delete(key)
      else this.#open.set(key, left)
      this.#counters.closed()
    })
  }
}

/**
 * Returns what a client is counted by: an IPv4 address, or an IPv6 /64, since one subscriber owns
 * at least that.
 */
function clientKey(address: string): string {
  const text = address.replace(/^::ffff:(?=\d+\.)/i, '')
  if (!text.includes(':')) return text
  // A link-local address carries its interface: fe80::1%eth0.
  const parsed = parseAddress(text.split('%')[0]!)
  return parsed.ok ? Buffer.from(parsed.value.subarray(0, 8)).toString('hex') : text
}
