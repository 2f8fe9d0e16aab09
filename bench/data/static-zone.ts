// A zone of static records, as a zone file for the peers and as a bundle for gslbd. Run by
// `staticBundle` as a process, so that the model's memory does not count as the node's.
import { writeFileSync } from 'node:fs'
import { encodeBundle } from '#bundle/encode/encode.ts'
import type { BundleModel, RrsetModel } from '#bundle/format/model.ts'
import { parseRdata, rdataTypeNamed } from '#dns/rdata/rdata-types.ts'
import { plainCodeOf } from '#routing/choose/ways.ts'
import { benchModel } from './encode-bundle.ts'
import { runForJson } from '../servers/program.ts'
import { soaAndNs } from '../servers/servers.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

export const staticZoneName = 'gslb.example.com'

type WrittenRecord = readonly [name: string, type: string, rdata: string]

/** Records of one name; an alias points to the address beside it. */
const recordsOf = (i: number): readonly WrittenRecord[] => [
  [`svc${i}`, 'A', `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`],
  [`svc${i}`, 'MX', `10 mx${i % 7}.mail.example.net.`],
  [`svc${i}`, 'TXT', `"v=spf1 ip4:192.0.2.${i % 256} include:spf${i % 7}.example.net -all"`],
  [`alias${i}`, 'CNAME', `svc${i}`],
]

export const recordsPerName = 4

/** Queries for the zone; each is a line of dnsperf's file. */
export const staticQuestions = Object.freeze({
  MX: (i: number) => `svc${i}.${staticZoneName} MX`,
  TXT: (i: number) => `svc${i}.${staticZoneName} TXT`,
  CNAME: (i: number) => `alias${i}.${staticZoneName} CNAME`,
  alias: (i: number) => `alias${i}.${staticZoneName} A`,
})

export function staticZoneText(names: number): string {
  const lines: string[] = [`$ORIGIN ${staticZoneName}.\n$TTL 60\n${soaAndNs}`]
  for (let i = 0; i < names; i++) {
    for (const [name, type, rdata] of recordsOf(i)) lines.push(`${name} 60 ${type} ${rdata}\n`)
  }
  return lines.join('')
}

/** @param more further records */
export function staticZoneModel(names: number, more: readonly WrittenRecord[] = []): BundleModel {
  const origin = wireName(`${staticZoneName}.`)
  const rrset = ([name, typeName, text]: WrittenRecord): RrsetModel => {
    const type = rdataTypeNamed(typeName)!
    const rdata = parseRdata(type, text, origin)
    if (!rdata.ok) throw new Error(rdata.error.expected)
    const owner = `${name}.${staticZoneName}.`
    return { name: owner, zone: 0, type: type.code, ttlSeconds: 60, rdata: [rdata.value] }
  }
  const rrsets = more.map(rrset)
  for (let i = 0; i < names; i++) for (const record of recordsOf(i)) rrsets.push(rrset(record))
  return { ...benchModel({ services: 0, pools: 0 }), rrsets }
}

/** Writes a query for each name into a file for dnsperf. @returns its path */
export function writeQuestions(
  directory: string,
  kind: string,
  names: number,
  question: (i: number) => string,
): string {
  const path = `${directory}/questions-${kind}.txt`
  writeFileSync(path, Array.from({ length: names }, (_, i) => `${question(i)}\n`).join(''))
  return path
}

/** Writes `<directory>/static-<names>.bundle` in a process of its own. @returns its path */
export async function staticBundle(directory: string, names: number): Promise<string> {
  const args = ['--max-old-space-size=12000', import.meta.filename, directory, String(names)]
  return runForJson<string>(args)
}

if (import.meta.main) {
  const [directory = '', names = ''] = process.argv.slice(2)
  const path = `${directory}/static-${names}.bundle`
  writeFileSync(path, encodeBundle(staticZoneModel(Number(names)), plainCodeOf).bytes)
  process.stdout.write(`${JSON.stringify(path)}\n`)
}
