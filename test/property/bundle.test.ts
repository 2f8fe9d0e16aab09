// Bundles: what holds for every configuration, and for every octet of a file.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { memberOctets, textOf, uidOf } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { MemberFlag } from '#bundle/format/cells.ts'
import { hostnameOfMember } from '#bundle/format/hostnames.ts'
import { layout } from '#bundle/format/format.ts'
import { loadBundle } from '#bundle/load/load.ts'
import { memberExtraOf } from '#bundle/format/member-extra.ts'
import type { BundleModel } from '#bundle/format/model.ts'
import { signBundle } from '#bundle/signature/sign.ts'
import { foldName } from '#dns/name.ts'
import { plainCodeOf } from '#routing/choose/ways.ts'
import { Counters } from '#answer/counters/counters.ts'
import { findClosestEncloser, findName, findSuffix, findWildcard } from '#answer/lookup.ts'
import { hashSuffixes, readQuestion } from '#answer/question.ts'
import { Transaction } from '#answer/transaction.ts'
import {
  arbitraryModel,
  bundleOf,
  closestZone,
  encode,
  newSigningKey,
  octetsToAddress,
  smallModel,
} from '#test/support/bundle-models.ts'
import {
  nameOfNode,
  nameOfZone,
  serviceAt,
  serviceOfNode,
  zoneOfNode,
} from '#test/support/bundle-read.ts'
import { laneCount } from '#test/support/lane.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

/** The services, pools and members of a bundle, read back. */
function readBack(bundle: Bundle) {
  const text = (index: number): string => textOf(bundle, index)
  const memberAt = (row: number) => ({
    uid: uidOf(bundle.memberUid, row),
    name: text(bundle.memberName[row]!),
    ipAddress: octetsToAddress(memberOctets(bundle, row)),
    hostname: hostnameOfMember(bundle, row) ?? '',
    port: bundle.memberPort[row],
    weight: bundle.memberWeight[row],
    priority: bundle.memberPriority[row],
    enabled: (bundle.memberFlags[row]! & MemberFlag.Enabled) !== 0,
    region: text(bundle.memberRegion[row]!),
    ...memberExtraOf(bundle, row),
  })
  const pools = [...bundle.poolName].map((name, row) => {
    const start = bundle.poolMemberStart[row]!
    const count4 = bundle.poolCount4[row]!
    const size = count4 + bundle.poolCount6[row]!
    return {
      uid: uidOf(bundle.poolUid, row),
      name: text(name),
      minHealthy: bundle.poolMinHealthy[row],
      members: Array.from({ length: size }, (_, i) => memberAt(start + i)),
    }
  })
  const services = [...bundle.serviceName].map((name, row) => {
    const { pool, ...fields } = serviceAt(bundle, row)
    return {
      uid: uidOf(bundle.serviceUid, row),
      name: text(name),
      ...fields,
      pool: pools[pool]?.uid,
    }
  })
  return { pools, services }
}

/** The same, from the model: IPv4 members first, everything in the order of uids. */
function expected(model: BundleModel) {
  const byUid = (a: { uid: string }, b: { uid: string }): number => (a.uid < b.uid ? -1 : 1)
  const isV6 = ({ ipAddress }: { ipAddress: string }): boolean => ipAddress.includes(':')
  const pools = model.pools.map(({ uid, name, minHealthy, members }) => ({
    uid,
    name,
    minHealthy,
    members: [...members.filter((one) => !isV6(one)), ...members.filter(isV6)],
  }))
  const services = model.services.map(({ uid, name, domain, algorithm, ttlSeconds, pool }) => ({
    uid,
    name,
    domain,
    algorithm: plainCodeOf(algorithm),
    ttlSeconds,
    pool: model.pools[pool]?.uid,
  }))
  return { pools: pools.sort(byUid), services: services.sort(byUid) }
}

/** Every name that exists, by RFC 4592 section 2.2: owners and what encloses them in their zone. */
function existingNames(model: BundleModel): Map<string, string> {
  const zoneOf = (name: string): string => model.zones[closestZone(model.zones, name)]!.name
  const names = new Map<string, string>()
  const addUpTo = (name: string, zone: string): void => {
    for (let at = name; at !== zone; at = at.slice(at.indexOf('.') + 1)) names.set(at, zoneOf(at))
  }
  for (const { name } of model.zones) {
    const parent = closestZone(model.zones, name.slice(name.indexOf('.') + 1))
    if (parent >= 0) addUpTo(name, model.zones[parent]!.name)
  }
  for (const { name } of model.zones) names.set(name, name)
  for (const { domain } of model.services) addUpTo(domain, zoneOf(domain))
  for (const { name: zone, nameservers } of model.zones) {
    const inside = nameservers.filter(({ name }) => name.endsWith(`.${zone}`))
    for (const { name } of inside) addUpTo(name, zoneOf(name))
  }
  return names
}

const tx = new Transaction(
  { udpPayloadSize: 1_232, nsid: '', versionBind: '', tcpIdleTimeoutMs: 1_000 },
  1,
  new Counters(new SharedArrayBuffer(Counters.bytes)),
)

/** Reads `name` as a responder reads a question. */
function ask(bundle: Bundle, name: string): void {
  const query = Buffer.concat([Buffer.alloc(12), wireName(name), Buffer.of(0, 1, 0, 1)])
  tx.bind(query, query)
  tx.nameSeed = bundle.nameSeed
  expect(readQuestion(tx, query, 12, query.length)).toBe(query.length)
  hashSuffixes(tx, bundle.nameLabelsMax)
}

function shuffled<T>(items: readonly T[], order: readonly number[]): T[] {
  const keyed = items.map((item, i) => ({
    item,
    key: order[i % Math.max(1, order.length)] ?? 0,
    i,
  }))
  return keyed.sort((a, b) => a.key - b.key || b.i - a.i).map(({ item }) => item)
}

describe('every configuration', () => {
  test('comes back from its bundle', () => {
    fc.assert(
      fc.property(arbitraryModel, (model) => {
        expect(readBack(bundleOf(model))).toEqual(expected(model))
      }),
    )
  })

  test('gives the same octets in whatever order its arrays are', () => {
    const keys = fc.array(fc.nat(), { minLength: 12, maxLength: 12 })
    fc.assert(
      fc.property(arbitraryModel, keys, (model, order) => {
        const zones = shuffled(model.zones, order)
        const pools = shuffled(model.pools, order)
        const services = shuffled(model.services, order).map((service) => ({
          ...service,
          zone: zones.indexOf(model.zones[service.zone]!),
          pool: service.pool < 0 ? -1 : pools.indexOf(model.pools[service.pool]!),
        }))
        const other = encode({ ...model, zones, pools, services })
        expect(other.digest).toBe(encode(model).digest)
      }),
    )
  })

  test('has a node for each name that exists, in the right zone, and for no other', () => {
    fc.assert(
      fc.property(arbitraryModel, (model) => {
        const bundle = bundleOf(model)
        const names = existingNames(model)
        const found = Array.from({ length: bundle.counts.nodes }, (_, node) => [
          nameOfNode(bundle, node),
          nameOfZone(bundle, zoneOfNode(bundle, node)),
        ])
        expect(Object.fromEntries(found)).toEqual(Object.fromEntries(names))
        expect(found).toHaveLength(names.size)
      }),
    )
  })

  test('is looked up as RFC 4592 says: the name, the closest encloser, its wildcard', () => {
    const prefix = fc.array(fc.constantFrom('a', 'b', 'q', '*'), { maxLength: 2 })
    fc.assert(
      fc.property(arbitraryModel, prefix, (model, labels) => {
        const bundle = bundleOf(model)
        const names = existingNames(model)
        const asked = [...names.keys(), 'nowhere.invalid.', '.'].map((name) =>
          [...labels, name === '.' ? '' : name].join('.'),
        )
        for (const name of asked.filter((text) => text !== '')) {
          ask(bundle, name.toUpperCase())
          const node = findName(tx, bundle)
          expect(node < 0 ? undefined : nameOfNode(bundle, node)).toBe(
            names.has(name) ? name : undefined,
          )
          if (node >= 0) continue
          const ancestors = name.split('.').map((_, i, all) => all.slice(i).join('.'))
          const encloser = ancestors.find((above) => names.has(above))
          const label = findClosestEncloser(tx, bundle, 1)
          const found = label < 0 ? -1 : findSuffix(tx, bundle, label)
          expect(found < 0 ? undefined : nameOfNode(bundle, found)).toBe(encloser)
          if (found < 0) continue
          const wildcard = findWildcard(tx, bundle, found, label)
          const isThere = names.has(`*.${encloser!}`)
          expect(wildcard < 0 ? '' : nameOfNode(bundle, wildcard)).toBe(
            isThere ? `*.${encloser!}` : '',
          )
        }
      }),
    )
  })
})

test('ten thousand names are found in any case, and their neighbours are not', () => {
  const services = Array.from({ length: 10_000 }, (_, i) => ({
    ...smallModel.services[0]!,
    uid: `00000000-0000-4000-9000-${String(i).padStart(12, '0')}`,
    domain: `h${i}.example.org.`,
  }))
  const bundle = bundleOf({ ...smallModel, services })
  for (const [i, { domain }] of services.entries()) {
    ask(bundle, i % 2 === 0 ? domain : domain.toUpperCase())
    const node = findName(tx, bundle)
    expect(serviceOfNode(bundle, node)).toBe(i)
    ask(bundle, `x${domain}`)
    expect(findName(tx, bundle)).toBe(-1)
  }
  expect(foldName(bundle.names)).toEqual(bundle.names)
})

describe('a file that is not whole is refused', () => {
  const key = newSigningKey()
  const model = { ...smallModel, pools: smallModel.pools.slice(0, 1), services: [] }
  const { bytes, digest } = encode(model)
  signBundle(bytes, key)
  /** A machine with others to run takes seconds for milliseconds; what hangs takes longer. */
  const slowestMs = 30_000

  /** Loads and says the error's code; it must neither throw nor take long. */
  function codeOf(file: Uint8Array, isTrusting = true): string | undefined {
    const startedAt = performance.now()
    const loaded = isTrusting ? loadBundle(file, [key]) : loadBundle(file)
    expect(performance.now() - startedAt).toBeLessThan(slowestMs)
    return loaded.ok ? undefined : loaded.error.code
  }

  test('wherever it is cut off', () => {
    for (let length = 0; length < bytes.length; length++) {
      expect(codeOf(bytes.slice(0, length), false)).toBeDefined()
    }
  })

  /** All octets in the long lane; in the short one every seventh. */
  const stride = laneCount(1, 7)

  test('whichever octet has another bit', () => {
    const copy = new Uint8Array(bytes)
    for (let at = 0; at < bytes.length; at += stride) {
      copy[at]! ^= 1 << ((at * 5) % 8)
      if (codeOf(copy) === undefined) expect.fail(`octet ${at} may be anything`)
      copy[at] = bytes[at]!
    }
  })

  test('or has another name, where its signature is not looked at', () => {
    const copy = new Uint8Array(bytes)
    const contentBytes = bytes.length - layout.signatureBytes
    for (let at = 0; at < contentBytes; at += stride) {
      copy[at]! ^= 1 << ((at * 5) % 8)
      const loaded = loadBundle(copy)
      if (loaded.ok && loaded.value.digest === digest) expect.fail(`octet ${at} has no name`)
      copy[at] = bytes[at]!
    }
  })

  test('whichever bits are flipped, signature looked at or not', () => {
    const flips = fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(7)), {
      minLength: 1,
      maxLength: 8,
    })
    fc.assert(
      fc.property(flips, fc.boolean(), (places, isTrusting) => {
        const copy = new Uint8Array(bytes)
        for (const [at, bit] of places) copy[at]! ^= 1 << bit
        const isSame = Buffer.compare(copy, bytes) === 0
        const code = codeOf(copy, isTrusting)
        if (isTrusting && !isSame) expect(code).toBeDefined()
      }),
      { numRuns: laneCount(2_000) },
    )
  })

  test('when it is anything else', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2_000 }), fc.boolean(), (noise, keepsHead) => {
        const file = new Uint8Array(noise)
        if (keepsHead) file.set(bytes.subarray(0, Math.min(16, file.length)))
        expect(codeOf(file, false)).toBeDefined()
      }),
    )
  })
})
