// Finds the addresses that a tenant's host name may lead to: public ones, and internal ones that
// the operator has listed.
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { parseAddress } from '#dns/address.ts'
import { isForbiddenAddress, isInNetwork } from '#dns/network.ts'
import type { Network } from '#dns/network.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { sendLimits } from './limits.ts'

interface OpenAddresses {
  readonly addresses: readonly string[]
  /** True: the operator has listed all of them, so TLS is not required. */
  readonly areListed: boolean
}

/** Rejects with the system's error. */
export type LookUp = (host: string) => Promise<readonly string[]>

/** Asks the system, with its hosts file and search list. */
export const askSystem: LookUp = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address)

/** Errors: a sentence without the address, which may be an internal one. */
export async function openAddresses(
  host: string,
  lookUp: LookUp,
  allowed: readonly Network[],
): Promise<Result<OpenAddresses, string>> {
  const bare = host.replace(/^\[(.*)\]$/, '$1')
  let found: readonly string[]
  try {
    found = isIP(bare) !== 0 ? [bare] : await lookUp(bare)
  } catch (error) {
    return err(
      `the host name cannot be looked up (${(error as NodeJS.ErrnoException).code ?? 'failed'})`,
    )
  }
  const open = found.slice(0, sendLimits.addressesMax).filter((text) => {
    const octets = parseAddress(text)
    // An address with a zone is not public.
    return octets.ok && !isForbiddenAddress(octets.value, allowed)
  })
  if (open.length === 0) {
    return err('the host leads to an internal address, which alerts.allowedHosts does not list')
  }
  const areListed = open.every((text) => {
    const octets = parseAddress(text)
    return octets.ok && allowed.some((network) => isInNetwork(octets.value, network))
  })
  return ok({ addresses: open, areListed })
}

/** Limits lookups at the same time: a silent name server must not hold a thread for long. */
export class LookupLane {
  readonly #lookUp: LookUp
  #running = 0
  readonly #waiting: (() => void)[] = []

  constructor(lookUp: LookUp = askSystem) {
    this.#lookUp = lookUp
  }

  readonly ask: LookUp = async (host) => {
    if (this.#waiting.length >= sendLimits.lookupsWaitingMax) throw new Error('too many look-ups')
    if (this.#running >= sendLimits.lookupsMax) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    } else this.#running++
    try {
      return await this.#lookUp(host)
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#running--
      else next()
    }
  }
}
