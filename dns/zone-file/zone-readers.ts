// Table of the zone file dialects that other servers, in the versions in use, can read.

import type { TextReader } from '#dns/rdata-text/field.ts'

export interface ZoneReader extends TextReader {
  /** Program and version. */
  readonly name: string
  /** Types whose mnemonics the program does not know: for it they are written `TYPE19 \\# …`. */
  readonly unknownTypes: ReadonlySet<number>
}

const [x25, isdn, rt, px, hip] = [19, 20, 21, 26, 55] as const

/** Seen with the packages of Debian 12; a test asks each program. */
export const zoneReaders: readonly ZoneReader[] = Object.freeze([
  { name: 'bind9.18', unknownTypes: new Set<number>(), keyMax: 7, needsBackslashes: false },
  { name: 'nsd4.6', unknownTypes: new Set([hip]), keyMax: 7, needsBackslashes: false },
  {
    name: 'knot3.2',
    unknownTypes: new Set([x25, isdn, px, hip]),
    keyMax: 6,
    needsBackslashes: true,
  },
  {
    name: 'pdns4.7',
    unknownTypes: new Set([x25, isdn, rt, px, hip]),
    keyMax: 8,
    needsBackslashes: false,
    refusesNoGateway: true,
  },
])

/** The dialect that all of them read. */
export const anyReader: ZoneReader = Object.freeze({
  name: 'any',
  unknownTypes: new Set(zoneReaders.flatMap(({ unknownTypes }) => [...unknownTypes])),
  keyMax: Math.min(...zoneReaders.map(({ keyMax }) => keyMax)),
  needsBackslashes: zoneReaders.some(({ needsBackslashes }) => needsBackslashes),
})
