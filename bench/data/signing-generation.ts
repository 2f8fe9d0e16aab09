// A generation of balanced services and a few records, whose zone is signed, or is not.
import { encodeBundle } from '#bundle/encode/encode.ts'
import { loadBundle } from '#bundle/load/load.ts'
import { signableRrsets } from '#bundle/load/zone-signing.ts'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import { everyUse } from '#dns/dnssec/key-record.ts'
import { generateZoneKey } from '#dns/dnssec/zone-key.ts'
import { parseRdata, rdataTypeNamed } from '#dns/rdata/rdata-types.ts'
import { noRoutingTables } from '#routing/choose/environment.ts'
import { plainCodeOf } from '#routing/choose/ways.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import type { Generation } from '#answer/serving-view.ts'
import { createSignatureMemory } from '#answer/signing/signature-table.ts'
import { packKeys } from '#answer/signing/signing-keys.ts'
import { wireName } from '#test/support/dns/wire-name.ts'
import { benchModel } from './encode-bundle.ts'

const zone = 'gslb.example.com'
const algorithm = 13

const records = [
  ['www', 'A', ['192.0.2.80', '192.0.2.81', '192.0.2.9']],
  ['alias', 'CNAME', ['www']],
  ['alias2', 'CNAME', ['alias']],
  ['*.wild', 'CNAME', ['www']],
] as const

export function signingGeneration(spec: {
  readonly services: number
  readonly isSigned: boolean
}): Generation {
  const { services, isSigned } = spec
  const model = benchModel({ services, pools: services, algorithm: 'mixed' })
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
  // As nodes have it: it is not copied for each thread.
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length))
  shared.set(bytes)
  const handed = { number: 1, bundle: shared, digest, routing, tables: noRoutingTables }
  if (!isSigned) return handed
  const key = generateZoneKey(signingAlgorithm(algorithm)!)
  const keys = packKeys([{ zone: origin, key, use: everyUse }])
  const nowSeconds = Math.floor(Date.now() / 1_000)
  const signatures = createSignatureMemory(nowSeconds, signableRrsets(bundle.value))
  return { ...handed, signing: { number: 1, keys, signatures } }
}
