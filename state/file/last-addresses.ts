// The last good addresses of host names in a file of the data directory.
import { isIPv4, isIPv6 } from 'node:net'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import type { LastAddresses, LastGood } from '../ports/last-addresses.ts'
import { isFields, parseJson } from '#lib/text/json.ts'
import { createLastGoodFile } from './last-good-file.ts'

const addressesMax = 8

export function createFileLastAddresses(path: string, clock: Clock, log: Log): LastAddresses {
  return createLastGoodFile<LastGood>({
    ...{ path, clock, log, read: lastGoodIn },
    nameOf: ({ hostname }) => hostname,
    unstored:
      'the addresses of host names cannot be stored: after a restart they are looked up first',
    unread: 'the file of host name addresses cannot be read; they are looked up first',
  })
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
    list.length <= addressesMax &&
    list.every((one) => typeof one === 'string' && isAddress(one))
  )
}
