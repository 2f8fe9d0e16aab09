// Measures an answer of a signed zone with a remembered signature, beside the same answer of an
// unsigned zone: without a socket, in turns. Run by the benchmark `signing`; prints JSON.
import { encodeBundle } from '#bundle/encode/encode.ts'
import { loadBundle } from '#bundle/load/load.ts'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import { generateZoneKey } from '#dns/dnssec/zone-key.ts'
import { parseRdata, rdataTypeNamed } from '#dns/rdata/rdata-types.ts'
import { RrType } from '#dns/rrtype.ts'
import { noRoutingTables } from '#routing/choose/environment.ts'
import { plainCodeOf } from '#routing/choose/ways.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import { createSignatureMemory } from '#answer/signing/signature-table.ts'
import { packKeys } from '#answer/signing/signing-keys.ts'
import { everyUse } from '#dns/dnssec/key-record.ts'
import type { Generation } from '#answer/serving-view.ts'
import { wireName } from '#test/support/dns/wire-name.ts'
import { AnswerLoop } from '../data/answer-mix.ts'
import { benchModel } from '../data/encode-bundle.ts'
import { encodeQuery } from '../data/query-wire.ts'

export interface SigningCost {
  readonly question: string
  /** Nanoseconds of one answer, least of the rounds. */
  readonly unsigned: number
  readonly signed: number
}

const zone = 'gslb.example.com'
const algorithm = 13
const edns = { edns: 'do' } as const
const kinds = [
  ['failover', encodeQuery(`svc2.${zone}`, edns)],
  ['round robin', encodeQuery(`svc0.${zone}`, edns)],
  ['three addresses', encodeQuery(`www.${zone}`, edns)],
  ['two aliases, three addresses', encodeQuery(`alias2.${zone}`, edns)],
  ['an alias of a wildcard', encodeQuery(`a.wild.${zone}`, edns)],
  ['no data (AAAA)', encodeQuery(`svc2.${zone}`, { ...edns, type: RrType.AAAA })],
  ['no such name', encodeQuery(`none.${zone}`, edns)],
] as const

function generation(isSigned: boolean): Generation {
  const model = benchModel({ services: 1_000, pools: 1_000, algorithm: 'mixed' })
  const records = [
    ['www', 'A', ['192.0.2.80', '192.0.2.81', '192.0.2.9']],
    ['alias', 'CNAME', ['www']],
    ['alias2', 'CNAME', ['alias']],
    ['*.wild', 'CNAME', ['www']],
  ] as const
  const origin = wireName(`${zone}.`)
  const rrsets = records.map(([name, typeName, texts]) => {
    const type = rdataTypeNamed(typeName)!
    const rdata = texts.map((text) => {
      const parsed = parseRdata(type, text, origin)
      if (!parsed.ok) throw new Error(parsed.error.expected)
      return parsed.value
    })
    return { name: `${name}.${zone}.`, zone: 0, type: type.code, ttlSeconds: 60, rdata }
  })
  const zones = model.zones.map((one) => (isSigned ? { ...one, algorithm } : one))
  const { bytes, digest } = encodeBundle({ ...model, zones, rrsets: [...rrsets] }, plainCodeOf)
  const bundle = loadBundle(bytes)
  if (!bundle.ok) throw new Error(bundle.error.message)
  const routing = createRoutingState(bundle.value, 1).buffers
  const handed = { number: 1, bundle: bytes, digest, routing, tables: noRoutingTables }
  if (!isSigned) return handed
  const key = generateZoneKey(signingAlgorithm(algorithm)!)
  const keys = packKeys([{ zone: origin, key, use: everyUse }])
  const signatures = createSignatureMemory(Math.floor(Date.now() / 1_000), 5_000)
  return { ...handed, signing: { number: 1, keys, signatures } }
}

function nanos(loop: AnswerLoop, query: Uint8Array, times: number): number {
  const cpu = process.threadCpuUsage()
  loop.run(query, times)
  const { user, system } = process.threadCpuUsage(cpu)
  return ((user + system) * 1_000) / times
}

const isQuick = process.argv.includes('--quick')
const [rounds, times] = isQuick ? [1, 1_000] : [15, 50_000]
const loops = [false, true].map((isSigned) => new AnswerLoop(generation(isSigned), 1))
for (let i = 0; i < 20; i++) {
  for (const [, query] of kinds) for (const loop of loops) loop.run(query, isQuick ? 50 : 1_000)
}
const costs = kinds.map(([question, query]): SigningCost => {
  const least = [Infinity, Infinity]
  for (let round = 0; round < rounds; round++) {
    for (const [i, loop] of loops.entries())
      least[i] = Math.min(least[i]!, nanos(loop, query, times))
  }
  return { question, unsigned: least[0]!, signed: least[1]! }
})
process.stdout.write(`${JSON.stringify(costs)}\n`)
