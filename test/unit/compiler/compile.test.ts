// A whole compilation: same bytes from the same files, one message per mistake, a cache.
import { expect, test } from 'vitest'
import { createCompiler } from '#compiler/compile.ts'
import { diagnosticsMax } from '#diagnostics/diagnostic.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import { Random } from '#lib/random.ts'
import { summary } from '#diagnostics/print/text.ts'
import { placesOf, sourceFile } from './fixture.ts'

const settings = sourceFile(
  'gslb.yaml',
  `apiVersion: gslb/v1
kind: Settings
metadata: { name: settings }
spec:
  zones: [{ name: example.com., nameservers: [{ name: ns1.example.net. }] }]
`,
)

function pool(
  name: string,
  members = '[{ ipAddress: 192.0.2.10, port: 443 }]',
  tenant = 'default',
) {
  const text =
    `apiVersion: gslb/v1\nkind: Pool\nmetadata: { name: ${name} ` +
    `}\nspec: { members: ${members} }\n`
  return sourceFile(`tenants/${tenant}/pools/${name}.yaml`, text)
}

function service(name: string, poolName: string, domain = `${name}.example.com.`) {
  const text =
    `apiVersion: gslb/v1\nkind: Service\nmetadata: { name: ${name} ` +
    `}\nspec: { domain: "${domain}", pool: ${poolName} }\n`
  return sourceFile(`tenants/default/services/${name}.yaml`, text)
}

function compile(...files: SourceFile[]) {
  return createCompiler().compile(files, { commit: '' })
}

function modelOf(...files: SourceFile[]) {
  const result = compile(...files)
  if (!result.ok) throw new Error(placesOf(result).join('\n'))
  return result.model
}

test('settings alone compile to an empty bundle', () => {
  const nothing = 'apiVersion: gslb/v1\nkind: Settings\nmetadata: { name: s }\nspec: {}\n'
  expect(compile(sourceFile('gslb.yaml', nothing))).toMatchObject({
    ok: true,
    total: 0,
    model: { zones: [], pools: [], services: [] },
  })
})

test('the order of the files makes no difference to the bytes', () => {
  const files = [
    settings,
    ...Array.from({ length: 50 }, (_, i) => [pool(`p${i}`), service(`s${i}`, `p${i}`)]).flat(),
  ]
  const digests = new Set<string>()
  const random = new Random(7)
  for (let round = 0; round < 5; round++) {
    const result = compile(...files)
    digests.add(result.ok ? result.bundle.digest : 'failed')
    for (let i = files.length - 1; i > 0; i--) {
      const j = random.below(i + 1)
      ;[files[i], files[j]] = [files[j]!, files[i]!]
    }
  }
  expect(digests.size).toBe(1)
  expect([...digests][0]).toMatch(/^[0-9a-f]{64}$/)
})

test('a cached compilation gives the same bytes as a fresh one', () => {
  const compiler = createCompiler()
  const before = [settings, pool('web'), service('www', 'web')]
  compiler.compile(before, { commit: '' })
  const after = [...before.map((file) => ({ ...file, bytes: null })), service('api', 'web')]
  const cached = compiler.compile(after, { commit: '' })
  const fresh = compile(...before, service('api', 'web'))
  expect(cached.ok && fresh.ok && cached.bundle.digest === fresh.bundle.digest).toBe(true)
})

test('the compiler remembers the blobs of the last compilation, and only those', () => {
  const compiler = createCompiler()
  const [old, current] = [pool('old'), pool('current')]
  compiler.compile([old, current], { commit: '' })
  expect(compiler.has(old.blobId)).toBe(true)
  compiler.compile([current], { commit: '' })
  expect([compiler.has(old.blobId), compiler.has(current.blobId)]).toEqual([false, true])
})

test('a faulty file is reported again when it is cached', () => {
  const compiler = createCompiler()
  const files = [settings, pool('web', '[{ prot: 1 }]')]
  const first = placesOf(compiler.compile(files, { commit: '' }))
  const second = placesOf(
    compiler.compile(
      files.map((file) => ({ ...file, bytes: null })),
      { commit: '' },
    ),
  )
  expect(first.length).toBeGreaterThan(0)
  expect(second).toEqual(first)
})

test('findings between cached files keep their places', () => {
  const compiler = createCompiler()
  const files = [settings, service('www', 'web')]
  const first = placesOf(compiler.compile(files, { commit: '' }))
  const second = placesOf(
    compiler.compile(
      files.map((file) => ({ ...file, bytes: null })),
      { commit: '' },
    ),
  )
  expect(first).toEqual(['tenants/default/services/www.yaml:4:43 pool-unknown'])
  expect(second).toEqual(first)
})

const users = Array.from({ length: 50 }, (_, i) => service(`s${i}`, 'web'))
const poolPath = 'tenants/default/pools/web.yaml'
const cascades: readonly [title: string, broken: SourceFile][] = [
  ['with an unknown field', pool('web', '[{ ipAddress: 192.0.2.10, port: 443, wieght: 2 }]')],
  ['with a bad address', pool('web', '[{ ipAddress: 192.0.2.256, port: 443 }]')],
  [
    'with broken YAML',
    sourceFile(poolPath, 'apiVersion: gslb/v1\nkind: Pool\nspec: {}\nmetadata: { name: web\n'),
  ],
  [
    'that is no text',
    { ...sourceFile(poolPath, ''), bytes: Uint8Array.of(0xff), sizeBytes: 1, blobId: 'ff' },
  ],
  [
    'with a misspelt kind',
    sourceFile(
      poolPath,
      'apiVersion: gslb/v1\nkind: Pol\nmetadata: { name: web }\n' +
        'spec: { members: [{ ipAddress: 192.0.2.10, port: 443 }] }\n',
    ),
  ],
  ['with two documents', sourceFile(poolPath, 'kind: Pool\n---\nkind: Pool\n')],
  ['that is empty', sourceFile(poolPath, '')],
  ['that is too large', { ...pool('web'), sizeBytes: 2 ** 21, bytes: null }],
  ['that is a link', { ...pool('web'), kind: 'symlink', bytes: null }],
]
for (const [title, broken] of cascades) {
  test(`a pool file ${title} is one message, not one for each of its services`, () => {
    const result = compile(settings, broken, ...users)
    expect(result.ok).toBe(false)
    expect(placesOf(result).map((place) => place.split(':')[0])).toEqual([poolPath])
  })
}

test('broken settings are one message, not one for each name', () => {
  const result = compile(sourceFile('gslb.yaml', 'kind: ['), pool('web'), ...users)
  expect(placesOf(result)).toEqual(['gslb.yaml:1:7 yaml-bracket-open'])
})

test('all mistakes of a run are listed at once', () => {
  const result = compile(
    settings,
    pool('web', '[{ ipAddress: x, port: 1 }]'),
    service('a', 'nope'),
    service('b', 'web', 'b..c.'),
  )
  expect(placesOf(result).map((place) => place.split(' ')[1])).toEqual([
    'address-invalid',
    'pool-unknown',
    'name-invalid',
  ])
})

test('more mistakes than the list holds are counted, and errors are listed before warnings', () => {
  const files = [settings]
  for (let i = 0; i < 1_100; i++) files.push(pool(`a${i}`, '[]'))
  for (let i = 0; i < 900; i++) files.push(service(`z${i}`, 'nope'))
  const result = compile(...files)
  expect(result.diagnostics).toHaveLength(diagnosticsMax)
  // Each empty pool is unused, too.
  expect(result.total).toBe(1_100 * 2 + 900)
  expect(summary(result)).toBe('900 errors, 1100 warnings, 1100 notes')
  expect(result.diagnostics.filter(({ severity }) => severity === 'error')).toHaveLength(900)
})

test('errors of one file beyond those that are kept count as errors', () => {
  const many = Array.from({ length: 500 }, (_, i) => `  field${i}: 1\n`).join('')
  const text = `apiVersion: gslb/v1\nkind: Settings\nmetadata: { name: s }\nspec:\n${many}`
  const result = compile(sourceFile('gslb.yaml', text))
  expect(result.diagnostics).toHaveLength(200)
  expect(summary(result)).toBe('500 errors')
})

test('a name outside every zone is a zone of its own, and a wildcard belongs to its parent', () => {
  const { zones, services } = modelOf(
    settings,
    service('in', 'null', 'deep.in.example.com.'),
    service('out', 'null', 'WWW.Example.org.'),
    service('below', 'null', 'a.www.example.org.'),
    service('wild', 'null', '*.example.net.'),
  )
  const zoneOf = Object.fromEntries(services.map(({ name, zone }) => [name, zones[zone]?.name]))
  expect(zoneOf).toEqual({
    in: 'example.com.',
    out: 'www.example.org.',
    below: 'a.www.example.org.',
    wild: 'example.net.',
  })
  expect(services.find(({ name }) => name === 'out')?.domain).toBe('www.example.org.')
})

test('the closest of two enclosing zones is taken', () => {
  const nested = sourceFile(
    'gslb.yaml',
    `apiVersion: gslb/v1
kind: Settings
metadata: { name: settings }
spec:
  defaults: { nameservers: [{ name: ns1.example.net. }] }
  zones: [{ name: example.com. }, { name: eu.example.com. }]
`,
  )
  const { zones, services } = modelOf(
    nested,
    service('a', 'null', 'www.eu.example.com.'),
    service('b', 'null', 'eu.example.com.'),
    service('c', 'null', 'xeu.example.com.'),
  )
  expect(services.map(({ zone }) => zones[zone]?.name)).toEqual([
    'eu.example.com.',
    'eu.example.com.',
    'example.com.',
  ])
  // The same object, so that the encoder stores it once.
  expect(zones[0]?.soa).toBe(zones[1]?.soa)
})

test('a SOA field comes from the zone, else the defaults, else the built-in value', () => {
  const mixed = sourceFile(
    'gslb.yaml',
    `apiVersion: gslb/v1
kind: Settings
metadata: { name: settings }
spec:
  defaults: { nameservers: [{ name: ns1.example.net. }], soa: { refresh: 11, retry: 22 } }
  zones: [{ name: example.com., soa: { retry: 33 } }]
`,
  )
  expect(modelOf(mixed).zones[0]?.soa).toEqual({
    mname: 'ns1.example.net.',
    rname: 'hostmaster.example.net.',
    refreshSeconds: 11,
    retrySeconds: 33,
    expireSeconds: 604_800,
    minimumSeconds: 30,
    ttlSeconds: 120,
    serialBase: 0,
  })
})

test('an alias of an algorithm becomes its name', () => {
  const text =
    'apiVersion: gslb/v1\nkind: Service\nmetadata: { name: w }\nspec: { domain: ' +
    'w.example.com., algorithm: wrr }\n'
  const { services } = modelOf(settings, sourceFile('tenants/default/w.yaml', text))
  expect(services[0]?.algorithm).toBe('weighted-round-robin')
})

test('an address is compared and stored in its canonical form', () => {
  const { pools } = modelOf(
    settings,
    pool('web', '[{ ipAddress: "2001:DB8:0:0::1", port: 1, region: "" }]'),
  )
  expect(pools[0]?.members[0]).toMatchObject({ ipAddress: '2001:db8::1', region: 'unknown' })
})

test('uids without a word in the file stay the same when the file moves or gets a comment', () => {
  const file = pool('web')
  const text = new TextDecoder().decode(file.bytes!)
  const [before] = modelOf(settings, file).pools
  const [after] = modelOf(
    settings,
    sourceFile('tenants/default/elsewhere.yml', `# moved\n${text}`),
  ).pools
  expect(after).toEqual(before)
  expect(before?.uid).toMatch(
    /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  )
})

test('files in places that mean nothing to the compiler are ignored', () => {
  const noise = [
    'README.md',
    'CODEOWNERS',
    '.github/workflows/ci.yml',
    'tenants/default/README.md',
    'tenants/.hidden/x.yaml',
  ]
  const result = compile(settings, ...noise.map((path) => sourceFile(path, '{{ nonsense')))
  expect(result).toMatchObject({ ok: true, total: 0 })
})
