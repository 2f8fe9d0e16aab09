// The last good addresses of host names in one file of the data directory, written whole.
import { readFileSync, statSync } from 'node:fs'
import { isIPv4, isIPv6 } from 'node:net'
import { dirname } from 'node:path'
import { sweepTemporary, writeDurably } from '#lib/durable-file.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import type { LastAddresses, LastGood } from '../ports/last-addresses.ts'
import { isFields, parseJson } from '#lib/text/json.ts'

export const lastAddressesLimits = {
  /** Larger files are not read. */
  bytesMax: 67_108_864,
  /** Older addresses are not used after a restart. */
  ageMaxMs: 7 * 86_400_000,
  addressesMax: 8,
} as const

/** A missing, damaged or unreadable file counts as empty; invalid entries are skipped. */
export function createFileLastAddresses(path: string, clock: Clock, log: Log): LastAddresses {
  const known = read(path, log)
  return {
    of: (hostname) => {
      const found = known.get(hostname)
      const isOld = clock.nowMs() - (found?.atMs ?? 0) > lastAddressesLimits.ageMaxMs
      return isOld ? undefined : found
    },
    keep: (all) => {
      known.clear()
      for (const one of all) known.set(one.hostname, one)
      try {
        writeDurably(path, all.map((one) => `${JSON.stringify(one)}\n`).join(''), 0o600)
      } catch (error) {
        log.warn(
          { file: path, err: error },
          'the addresses of host names cannot be stored: after a restart they are looked up first',
        )
      }
    },
  }
}

function read(path: string, log: Log): Map<string, LastGood> {
  const known = new Map<string, LastGood>()
  const warn = (fields: object): void => {
    log.warn(
      { file: path, ...fields },
      'the file of host name addresses cannot be read; they are looked up first',
    )
  }
  try {
    sweepTemporary(dirname(path))
    const bytes = statSync(path, { throwIfNoEntry: false })?.size
    if (bytes === undefined) return known
    if (bytes > lastAddressesLimits.bytesMax) {
      warn({ bytes })
      return known
    }
    for (const line of readFileSync(path, 'utf8').split('\n')) {
      const one = lastGoodIn(line)
      if (one !== undefined) known.set(one.hostname, one)
    }
  } catch (error) {
    warn({ err: error })
  }
  return known
}

function lastGoodIn(line: string): LastGood | undefined {
  const value = parseJson(line)
  if (!isFields(value)) return undefined
  const { hostname, v4, v6, atMs } = value
  if (typeof hostname !== 'string' || typeof atMs !== 'number') return undefined
  if (!areAddresses(v4, isIPv4) || !areAddresses(v6, isIPv6)) return undefined
  return { hostname, v4, v6, atMs }
}

function areAddresses(
  list: unknown,
  isAddress: (text: string) => boolean,
): list is readonly string[] {
  return (
    Array.isArray(list) &&
    list.length <= lastAddressesLimits.addressesMax &&
    list.every((one) => typeof one === 'string' && isAddress(one))
  )
}
