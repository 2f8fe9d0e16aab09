// Tests that every answer of a signed zone verifies, whatever was asked or changed before.
import { verify } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { packKeys } from '#answer/signing/signing-keys.ts'
import { everyUse, KeyUse } from '#dns/dnssec/key-record.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import type { BundleModel } from '#bundle/format/model.ts'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import { coveredOctets, rrsigFixedBytes } from '#test/support/dns/rrsig.ts'
import { generateZoneKey } from '#dns/dnssec/zone-key.ts'
import type { ZoneKey } from '#dns/dnssec/zone-key.ts'
import { bundleOf } from '#test/support/bundle-models.ts'
import { typeName } from '#test/support/dns/codes.ts'
import type { Message } from '#test/support/dns/message.ts'
import { a, lineOf } from '#test/support/dns/record.ts'
import type { ResourceRecord } from '#test/support/dns/record.ts'
import { answering, full, nowSeconds } from '#test/support/dns/signed-answers.ts'
import { signedModel, signedName } from '#test/support/dns/signed-zone.ts'
import { wireName } from '#test/support/dns/wire-name.ts'
import { laneCount } from '#test/support/lane.ts'

const zone = wireName(signedName)
const model = signedModel(15, ['192.0.2.10', '192.0.2.11'])
/** The last octet of each address. */
function withOtherOctets(): BundleModel {
  const other = (rdata: Uint8Array): Uint8Array =>
    rdata.map((octet, i) => (i === 3 ? ~octet : octet))
  return {
    ...model,
    rrsets: model.rrsets.map((one) =>
      one.type === 1 ? { ...one, rdata: one.rdata.map(other) } : one,
    ),
    pools: model.pools.map((pool) => ({
      ...pool,
      members: pool.members.map((one) => ({ ...one, ipAddress: `${one.ipAddress}9` })),
    })),
  }
}

/** The same names with other members, other records in the same rows, and other TTLs. */
const bundles: readonly Bundle[] = [
  model,
  signedModel(15, ['192.0.2.12']),
  { ...model, rrsets: model.rrsets.map((one) => ({ ...one, ttlSeconds: 77 })) },
  withOtherOctets(),
].map((one) => bundleOf(one))
const keys = [0, 1, 2].map(() => generateZoneKey(signingAlgorithm(15)!))
const uses = (...list: readonly number[]) =>
  packKeys(list.map((use, i) => ({ zone, key: keys[i]!, use })))
const keySets = [
  uses(everyUse),
  uses(everyUse, everyUse),
  uses(KeyUse.Published | KeyUse.SignsKeys, KeyUse.Published | KeyUse.SignsRecords, KeyUse.InCds),
]

const names = ['@', 'www', 'app', 'many', 'alias', 'alias2', 'tostar', 'toapp', 'tonone', 'text']
const more = ['x.any', 'y.any', 'x.star', '*.star', 'a.old', 'host.old', 'mx', 'sub', 'x.sub']
const none = ['none', 'a.none', 'x.none', 'deep.empty.non', 'empty.non', 'safe', 'rp', 'mail']
const types = ['A', 'AAAA', 'TXT', 'MX', 'NS', 'SOA', 'DNSKEY', 'CDS', 'DS', 'NSEC', 'ANY', 'RP']
const question = fc
  .tuple(fc.constantFrom(...names, ...more, ...none), fc.constantFrom(...types), fc.boolean())
  .map(([name, type, isUpper]) => ({ ask: full(`${isUpper ? name.toUpperCase() : name} ${type}`) }))
const step = fc.oneof(
  { weight: 12, arbitrary: question },
  fc.nat(bundles.length - 1).map((bundle) => ({ bundle })),
  fc.nat(keySets.length - 1).map((set) => ({ set })),
  fc.nat(3).map((serial) => ({ serial })),
  fc.nat(20).map((day) => ({ day })),
)

const withNames = new Set(['NS', 'CNAME', 'DNAME', 'SOA', 'MX', 'RP'])
/** Names in rdata in full. */
const rdataOf = (record: ResourceRecord): Buffer =>
  withNames.has(typeName(record.type)) ? a(lineOf(record)).rdata : record.rdata

/** @returns how many signatures there are */
function verified(reply: Message): number {
  let count = 0
  for (const section of [reply.answer, reply.authority, reply.additional]) {
    for (const { name, type, rdata } of section) {
      if (typeName(type) !== 'RRSIG') continue
      const covered = section.filter(
        (one) =>
          one.type === rdata.readUInt16BE(0) && one.name.toLowerCase() === name.toLowerCase(),
      )
      // A question for RRSIG has the signature alone.
      if (covered.length === 0) continue
      const key = keys.find(({ tag }) => tag === rdata.readUInt16BE(16))
      expect(
        key !== undefined && isRight(key, rdata, covered),
        `${name} ${typeName(covered[0]!.type)}`,
      ).toBe(true)
      count++
    }
  }
  return count
}

function isRight(key: ZoneKey, rrsig: Buffer, covered: readonly ResourceRecord[]): boolean {
  const { name, type, ttl } = covered[0]!
  const headEnd = rrsigFixedBytes + zone.length
  const rdata = covered.map(rdataOf)
  const rrset = { owner: wireName(name), type, ttlSeconds: ttl, rdata }
  const octets = coveredOctets(rrsig.subarray(0, headEnd), rrset)
  return verify(null, octets, publicKeyOf(key), rrsig.subarray(headEnd))
}

const publicKeyOf = ({ rdata }: ZoneKey) => ({
  key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(rdata.subarray(4)).toString('base64url') },
  format: 'jwk' as const,
})

test('each signature of each answer is right', () => {
  let signatures = 0
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 60 }), (steps) => {
      const node = answering(bundles[0]!, keySets[0])
      for (const one of steps) {
        if ('ask' in one) signatures += verified(node.ask(one.ask))
        else if ('bundle' in one) node.serve(bundles[one.bundle]!)
        else if ('set' in one) node.take(keySets[one.set]!)
        else if ('serial' in one) node.addSerial(one.serial)
        else node.at(nowSeconds + one.day * 86_400)
      }
    }),
    { numRuns: laneCount(1_000, 60) },
  )
  expect(signatures).toBeGreaterThan(200)
})
