// Random edits of a tree: a compiler that saw every state before says what a fresh one says.
import { hash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { BundleModel } from '#bundle/format/model.ts'
import { loadBundle } from '#bundle/load/load.ts'
import { createCompiler } from '#compiler/compile.ts'
import type { CompileResult } from '#compiler/compile.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import { laneCount } from '#test/support/lane.ts'
import { plainModel } from '#test/support/plain-model.ts'

const runs = laneCount(30, 6)

const top = (kind: string, name: string, uid = ''): string =>
  `apiVersion: gslb/v1\nkind: ${kind}\n` +
  `metadata: { name: ${name}${uid === '' ? '' : `, uid: ${uid}`} }\n`
const uidOf = (last: number): string => `0000000${last % 3}-0000-4000-8000-00000000000${last}`

const names = ['a', 'b', 'c', 'd']
const name = fc.constantFrom(...names)
/** Most ids are derived; some are written down, and some of those twice. */
const uid = fc.oneof(
  { weight: 4, arbitrary: fc.constant('') },
  fc.integer({ min: 1, max: 9 }).map(uidOf),
)

const settings = fc
  .record({
    zone: fc.constantFrom('example.com.', 'example.', 'b.example.com.'),
    minimum: fc.constantFrom(5, 30),
    glue: fc.constantFrom('192.0.2.53', '192.0.2.54'),
    mapped: fc.constantFrom('', '192.0.2.1', '2001:db8::2'),
  })
  .map(({ zone, minimum, glue, mapped }) => {
    const server = `{ name: ns1.${zone}, addresses: ["${glue}"] }`
    const rules = `[{ cidr: 10.0.0.0/8, endpoint: "${mapped}" }]`
    return (
      `${top('Settings', 'settings')}spec:\n` +
      `  zones: [{ name: ${zone}, nameservers: [${server}], soa: { minimum: ${minimum} } }]\n` +
      `  defaults: { nameservers: [${server}] }\n` +
      (mapped === '' ? '' : `  mapFile: { rules: ${rules} }\n`)
    )
  })

const member = fc
  .record({
    address: fc.constantFrom('192.0.2.1', '192.0.2.2', '2001:db8::1', '2001:db8::2'),
    weight: fc.integer({ min: 0, max: 2 }),
    region: fc.constantFrom('', 'NO', 'continent:EU', 'Größe'),
    uid,
  })
  .map(
    (one) =>
      `{ ipAddress: "${one.address}", port: 443, weight: ${one.weight}` +
      `, region: "${one.region}"${one.uid === '' ? '' : `, uid: ${one.uid}`} }`,
  )

const pool = fc
  .record({
    name,
    uid,
    members: fc.uniqueArray(member, { maxLength: 3, selector: (text) => text.slice(0, 26) }),
    port: fc.constantFrom(0, 80, 443),
    isGeo: fc.boolean(),
  })
  .map((one) => {
    const check = one.port === 0 ? '' : `  healthCheck: { type: tcp, port: ${one.port} }\n`
    const rule = '{ cidr: 10.1.0.0/16, endpoint: 192.0.2.1 }'
    const rules = one.isGeo && one.members.join().includes('"192.0.2.1"') ? `[${rule}]` : '[]'
    const members = `  members: [${one.members.join(', ')}]\n`
    return `${top('Pool', one.name, one.uid)}spec:\n${members}${check}  geoRules: ${rules}\n`
  })

const service = fc
  .record({
    name,
    uid,
    domain: fc.constantFrom('x.example.com.', '*.example.com.', 'b.example.com.', 'y.test.'),
    pool: fc.constantFrom('null', ...names),
    onAllDown: fc.constantFrom('empty', 'all', 'pool:a', 'pool:b'),
    algorithm: fc.constantFrom('round-robin', 'failover', 'geo-ip'),
    ttl: fc.integer({ min: 1, max: 3 }),
  })
  .map(
    (one) =>
      `${top('Service', one.name, one.uid)}spec: { domain: "${one.domain}", pool: ${one.pool}` +
      `, onAllDown: "${one.onAllDown}", algorithm: ${one.algorithm}, ttl: ${one.ttl} }\n`,
  )

const policy = fc
  .record({ name, trigger: fc.constantFrom('x.example.com', 'example.com', 'y.test') })
  .map(
    (one) =>
      `${top('ResponsePolicy', one.name)}spec:\n  rules:\n` +
      `    - { triggerType: domain, triggerValue: ${one.trigger}, action: nxdomain }\n`,
  )

const window = fc
  .record({ name, pool: name, day: fc.integer({ min: 1, max: 3 }) })
  .map(
    (one) =>
      `${top('MaintenanceWindow', one.name)}spec: { resourceType: pool, resource: ${one.pool}` +
      `, startAt: 2099-03-0${one.day}T00:00:00Z, endAt: 2099-03-0${one.day}T12:00:00Z }\n`,
  )

const rrset = fc.constantFrom(
  '{ name: "@", type: MX, values: [10 x] }',
  '{ name: x, type: A, values: [192.0.2.1] }',
  '{ name: x, type: TXT, values: [text] }',
  '{ name: c, type: CNAME, values: [x] }',
  '{ name: c, type: CNAME, values: [d.c] }',
  '{ name: d.c, type: AAAA, values: ["2001:db8::1"] }',
  '{ name: b, type: NS, values: [ns.b] }',
  '{ name: ns.b, type: A, values: [192.0.2.9] }',
  '{ name: "*", type: DS, values: [x] }',
)
const records = fc
  .record({
    name,
    zone: fc.constantFrom('example.com.', 'example.', 'b.example.com.'),
    sets: fc.uniqueArray(rrset, { maxLength: 3 }),
  })
  .map(
    (one) =>
      `${top('Records', one.name)}spec:\n  zone: ${one.zone}\n  records: [${one.sets.join(', ')}]\n`,
  )

const tenantFile = fc.constant(`${top('Tenant', 'other')}spec: {}\n`)
const broken = fc.constantFrom('', 'kind: Pool\nmetadata: { name: a }\n', '{', 'a: &b [*b]\n')

const paths = {
  settings: ['gslb.yaml'],
  tenant: ['tenants/other/tenant.yaml'],
  policy: ['rpz/1.yaml', 'rpz/2.yaml'],
  object: ['default', 'default', 'default', 'other'].flatMap((tenant, i) =>
    ['1', '2', '3'].map((file) => `tenants/${tenant}/${i}-${file}.yaml`),
  ),
  odd: ['notes.yaml', 'README.md', 'tenants/default/.hidden.yaml'],
}
const allPaths = Object.values(paths).flat()

/** Compiles, so that many an edit is one of a good tree. */
const firstTree: readonly (readonly [path: string, text: string])[] = [
  ['gslb.yaml', `${top('Settings', 'settings')}spec: { zones: [] }\n`],
  ...names.map((one, i): [string, string] => [
    `tenants/default/${i % 2}-${1 + (i >> 1)}.yaml`,
    `${top('Pool', one)}spec: { members: [{ ipAddress: 192.0.2.${i + 1}, port: 443 }] }\n`,
  ]),
  ['tenants/default/2-1.yaml', `${top('Service', 'a')}spec: { domain: a.test., pool: a }\n`],
]

type Edit =
  | { readonly path: string; readonly text: string | null }
  | { readonly from: string; readonly to: string }

const set = (where: readonly string[], text: fc.Arbitrary<string>): fc.Arbitrary<Edit> =>
  fc.record({ path: fc.constantFrom(...where), text })
const edit: fc.Arbitrary<Edit> = fc.oneof(
  { weight: 2, arbitrary: set(paths.settings, settings) },
  { weight: 1, arbitrary: set(paths.tenant, tenantFile) },
  { weight: 2, arbitrary: set(paths.policy, policy) },
  { weight: 8, arbitrary: set(paths.object, pool) },
  { weight: 8, arbitrary: set(paths.object, service) },
  { weight: 2, arbitrary: set(paths.object, window) },
  { weight: 6, arbitrary: set(paths.object, records) },
  { weight: 1, arbitrary: set(paths.odd, broken) },
  { weight: 1, arbitrary: set(allPaths, broken) },
  {
    weight: 6,
    arbitrary: fc.record({ path: fc.constantFrom(...allPaths), text: fc.constant(null) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      from: fc.constantFrom(...paths.object),
      to: fc.constantFrom(...paths.object),
    }),
  },
)

function apply(tree: Map<string, string>, one: Edit): void {
  if ('from' in one) {
    const text = tree.get(one.from)
    if (text === undefined) return
    tree.delete(one.from)
    tree.set(one.to, text)
  } else if (one.text === null) tree.delete(one.path)
  else tree.set(one.path, one.text)
}

function sourceOf(path: string, text: string, isKnown: (blobId: string) => boolean): SourceFile {
  const bytes = Buffer.from(text)
  const blobId = hash('sha1', bytes)
  const isGiven = !isKnown(blobId)
  return { path, blobId, kind: 'file', sizeBytes: bytes.length, bytes: isGiven ? bytes : null }
}

function filesOf(
  tree: ReadonlyMap<string, string>,
  isKnown: (blobId: string) => boolean = () => false,
): SourceFile[] {
  return Array.from(tree, ([path, text]) => sourceOf(path, text, isKnown))
}

const options = { commit: 'c'.repeat(40), nowMs: 0 }

/** Uids of pools in the place of positions, which depend on what came before. */
function placeless(model: BundleModel) {
  const { pools, services, rollouts, windows, ...rest } = plainModel(model)
  const uidAt = (position: number): string | undefined => pools[position]?.uid
  const named = <T extends { readonly pool: number }>({ pool, ...one }: T) => ({
    ...one,
    pool: uidAt(pool),
  })
  return {
    ...rest,
    pools: new Map(pools.map((pool) => [pool.uid, pool])),
    rollouts: rollouts.map(named),
    windows: windows.map(named),
    services: services.map(({ onAllDown, ...one }) => ({
      ...named(one),
      onAllDown: typeof onAllDown === 'string' ? onAllDown : named(onAllDown),
    })),
  }
}

/** All that a caller can see. */
function seen(result: CompileResult) {
  const { ok, diagnostics, total, counts, sources } = result
  const made = result.ok ? { digest: result.bundle.digest, model: placeless(result.model) } : null
  return { ok, diagnostics, total, counts, sources: [...sources].sort(), made }
}

test('after any edits the bytes and the findings are those of a fresh compiler', () => {
  let accepted = 0
  // As with commits: most of those that do not compile are taken back by the next one.
  const step = fc.tuple(edit, fc.integer({ min: 0, max: 4 }))
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 40 }), (steps) => {
      let good: Iterable<readonly [string, string]> = firstTree
      let tree = new Map(good)
      const seasoned = createCompiler()
      for (const [one, chance] of steps) {
        apply(tree, one)
        const known = seasoned.compile(filesOf(tree, seasoned.has), options)
        const fresh = createCompiler().compile(filesOf(tree), options)
        expect(seen(known)).toEqual(seen(fresh))
        if (known.ok) {
          accepted++
          good = [...tree]
        } else if (chance > 0) tree = new Map(good)
      }
    }),
    { numRuns: runs },
  )
  // Edits that always break something would show little.
  expect(accepted).toBeGreaterThan(runs * 5)
})

test('compilations that threw half-way change no later one', () => {
  let thrown = 0
  const slips = fc.tuple(edit, fc.constantFrom('read', 'load'), edit)
  fc.assert(
    fc.property(fc.array(slips, { minLength: 5, maxLength: 15 }), (all) => {
      let isLost = false
      const seasoned = createCompiler({
        load: ({ bytes }, known) => {
          if (isLost) throw new Error('half-way')
          const loaded = loadBundle(bytes, undefined, known)
          return loaded.ok ? loaded.value : loaded.error.message
        },
      })
      let good = new Map(firstTree)
      for (const [lost, where, kept] of all) {
        const [lostTree, tree] = [new Map(good), new Map(good)]
        apply(lostTree, lost)
        apply(tree, kept)
        const files = filesOf(lostTree, seasoned.has)
        isLost = true
        try {
          // Files that are new to the compiler have no bytes either.
          const unread = files.map((file) => ({ ...file, bytes: null }))
          seasoned.compile(where === 'read' ? unread : files, options)
        } catch {
          thrown++
        }
        isLost = false
        const known = seasoned.compile(filesOf(tree, seasoned.has), options)
        const fresh = createCompiler().compile(filesOf(tree), options)
        expect(seen(known)).toEqual(seen(fresh))
        if (known.ok) good = tree
      }
    }),
    { numRuns: runs },
  )
  expect(thrown).toBeGreaterThan(runs)
})
