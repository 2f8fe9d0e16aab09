// A signed zone with names of all kinds, and a node that answers it.
import type { BundleModel } from '#bundle/format/model.ts'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import { generateZoneKey } from '#dns/dnssec/zone-key.ts'
import type { ZoneKey } from '#dns/dnssec/zone-key.ts'
import type { Log } from '#lib/log.ts'
import { storeKey } from '#server/signing/key-store.ts'
import { ZoneKeys } from '#server/signing/zone-keys.ts'
import { pool, service } from '#test/support/bundle-models.ts'
import { rule } from '#test/support/response-rules.ts'
import { startNode } from './node.ts'
import type { NodeSettings, RunningNode } from './node.ts'
import { wireName } from './wire-name.ts'
import { modelOfWritten } from './written-zone.ts'

const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} }

export const signedName = 'example.org.'

const text = `$ORIGIN ${signedName}
@ 300 SOA ns1 hostmaster 1 3600 600 86400 MINIMUM
@ 300 NS ns1
@ 300 NS NS2
@ 300 MX 10 mail
mail 300 A 192.0.2.25
mail 300 AAAA 2001:db8::25
www 300 A 192.0.2.80
www 300 A 192.0.2.81
www 300 A 192.0.2.9
text 300 TXT "b" "a"
text 300 TXT "a"
rp 300 RP Some.Body.Example.org. .
alias 300 CNAME WWW
alias2 300 CNAME alias
tonone 300 CNAME none
tostar 300 CNAME x.star
toapp 300 CNAME app
*.star 300 A 192.0.2.33
*.star 300 TXT "star"
deep.empty.non 300 A 192.0.2.1
old 300 DNAME new
host.new 300 A 192.0.2.44
mx 300 MX 10 ns1.sub
sub 300 NS ns1.sub
ns1.sub 300 A 127.0.0.1
safe 300 NS ns1.safe
safe 300 DS 12345 13 2 ${'ab'.repeat(32)}
ns1.safe 300 A 127.0.0.1
`

const loopbackServers = 'ns1 300 A 127.0.0.1\nns2 300 A 127.0.0.2\n'

/**
 * @param up enabled members of the balanced services; the others are disabled
 * @param more addresses of the name servers, and further records
 * @param negativeSeconds TTL of denials
 */
export function signedModel(
  algorithm: number,
  up: readonly string[],
  more = loopbackServers,
  negativeSeconds = 0,
): BundleModel {
  const whole = (text + more).replace('MINIMUM', `${negativeSeconds}`)
  const written = modelOfWritten({ name: signedName, text: whole })
  const members = ['192.0.2.10', '192.0.2.11', '192.0.2.12']
  const balanced = pool(1, members)
  return {
    ...written,
    zones: written.zones.map((zone) => ({ ...zone, algorithm })),
    pools: [
      {
        ...balanced,
        members: balanced.members.map((one) => ({ ...one, enabled: up.includes(one.ipAddress) })),
      },
    ],
    services: [
      service(1, `app.${signedName}`, { algorithm: 'failover' }),
      service(2, `many.${signedName}`, { algorithm: 'round-robin' }),
      service(3, `*.any.${signedName}`, { algorithm: 'round-robin' }),
    ],
    responseRules: [
      rule(1, 'exact', `denied.${signedName}`, { signed: true }),
      rule(2, 'domain', `to.${signedName}`, {
        ...{ signed: true, action: 'cname', target: `www.${signedName}` },
      }),
    ],
  }
}

/** A zone below the signed one, signed as well. */
export const childName = `kid.${signedName}`

const childText = `$ORIGIN ${childName}
@ 300 SOA ns1.${signedName} hostmaster 1 3600 600 86400 60
@ 300 NS ns1.${signedName}
www 300 A 192.0.2.99
`

/** The signed zone and a zone below it. @param algorithm of the child; 0: unsigned */
export function modelWithChild(algorithm: number): BundleModel {
  const model = signedModel(13, ['192.0.2.10'])
  const child = modelOfWritten({ name: childName, text: childText })
  const [zone] = child.zones
  return {
    ...model,
    zones: [...model.zones, { ...zone!, ...(algorithm === 0 ? {} : { algorithm }) }],
    rrsets: [...model.rrsets, ...child.rrsets.map((one) => ({ ...one, zone: 1 }))],
  }
}

export interface SignedNode extends RunningNode {
  readonly key: ZoneKey
  readonly keys: ZoneKeys
}

/**
 * @param directory for its key
 * @param log receives messages about keys
 */
export async function startSignedNode(
  directory: string,
  algorithm: number,
  settings: NodeSettings = {},
  log: Log = silentLog,
): Promise<SignedNode> {
  const key = generateZoneKey(signingAlgorithm(algorithm)!)
  storeKey(directory, { zone: wireName(signedName), key }, null, Date.now())
  const clock = { nowMs: () => Date.now() }
  const keys = new ZoneKeys({ directory, secretKey: null, mayGenerate: false, clock, log })
  const model = signedModel(algorithm, ['192.0.2.10', '192.0.2.11'])
  const node = await startNode(model, { ...settings, signing: keys })
  return { ...node, key, keys }
}
