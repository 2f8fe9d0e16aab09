// Random batches of good and bad writes, on the same and on different files: each good one is made,
// each bad one is refused, and the node is as after a clean look at what is in Git.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, test } from 'vitest'
import { kindNames } from '#schemas/kinds.ts'
import type { CommitResult, Operation } from '#config/operation.ts'
import { createCompilePort } from '#gitops/sync/compile-adapter.ts'
import { SourceReader } from '#gitops/sync/compile-port.ts'
import { createDiskDriver } from '#gitops/git/disk-driver.ts'
import { parseCommit } from '#gitops/git/objects/commit-object.ts'
import { laneCount } from '#test/support/lane.ts'
import { newPem, seedOrigin, settingsYaml, startWriteScene } from '#test/support/write-scene.ts'
import type { WriteScene } from '#test/support/write-scene.ts'

const tenant = 'default'
const at = (index: number) => ({ tenant, name: `s${index}` })
const patch = (index: number, fields: object): Operation =>
  ({ verb: 'update', kind: 'Service', target: at(index), patch: fields }) as Operation

interface Request {
  readonly operations: readonly Operation[]
  /** Refused whatever the others of its batch do. */
  readonly isBad: boolean
}

let made = 0
const member = (ipAddress: string): Operation => ({
  verb: 'create',
  kind: 'Member',
  owner: { tenant, name: 'p' },
  spec: { ipAddress, port: 80 },
})
const newService = (domain: string): Operation => ({
  verb: 'create',
  kind: 'Service',
  tenant,
  name: `made${++made}`,
  spec: { domain, pool: 'p', ttl: 5 },
})
const newAddress = (): string => {
  made++
  return `10.0.${made >> 8}.${made & 255}`
}

type Make = (index: number, number: number) => readonly Operation[]

const goodOnes: readonly Make[] = [
  (index, ttl) => [patch(index, { ttl })],
  (index, number) => [patch(index, { algorithm: number % 2 === 0 ? 'failover' : 'round-robin' })],
  (index, ttl) => [patch(index, { ttl }), patch((index + 1) % 3, { ttl })],
  () => [member(newAddress())],
  () => [newService(`made${made}.example.com.`)],
]
const badOnes: readonly Make[] = [
  (index) => [patch(index, { domain: 'taken.example.com.' })],
  (index) => [patch(index, { pool: 'nowhere' })],
  (index, ttl) => [patch(index, { ttl }), patch(index, { domain: 'no name' })],
  // Good alone, and bad with what comes after it.
  (index, ttl) => [patch((index + 1) % 3, { ttl }), patch(index, { domain: 'taken.example.com.' })],
  () => [newService('taken.example.com.')],
  () => [member('192.0.2.1')],
  () => [member('not an address')],
]

const request: fc.Arbitrary<() => Request> = fc
  .record({
    isBad: fc.boolean(),
    which: fc.nat(34),
    index: fc.nat(2),
    number: fc.integer({ min: 1, max: 900 }),
  })
  .map(({ isBad, which, index, number }) => () => {
    const of = isBad ? badOnes : goodOnes
    return { isBad, operations: of[which % of.length]!(index, number) }
  })

const pool = `apiVersion: gslb/v1
kind: Pool
metadata: { name: p }
spec: { members: [{ ipAddress: 192.0.2.1, port: 80 }] }
`
const service = (name: string): string => `apiVersion: gslb/v1
kind: Service
metadata: { name: ${name} }
spec: { domain: ${name}.example.com., pool: p, ttl: 5 }
`
const files = {
  'gslb.yaml': settingsYaml,
  'tenants/default/pools/p.yaml': pool,
  ...Object.fromEntries(
    ['s0', 's1', 's2', 'taken'].map((name) => [
      `tenants/default/services/${name}.yaml`,
      service(name),
    ]),
  ),
}

let home = ''
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'gslbd-batches-'))
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

/** What a process that knows nothing makes of the head. */
async function cleanLook(dataDir: string): Promise<{ digest: string; objects: string[] }> {
  const driver = createDiskDriver(join(dataDir, 'config.git'))
  const oid = driver.readRef('refs/heads/main')
  assert(oid !== null)
  const raw = await driver.readCommit(oid)
  const commit = raw.ok ? parseCommit(raw.value) : raw
  assert(commit.ok)
  const compiler = createCompilePort()
  const read = await new SourceReader(() => driver, compiler).read(commit.value.tree)
  assert(read.ok)
  const compiled = compiler.compile(read.value, oid)
  assert(compiled.ok, 'the head compiles')
  const objects = compiled.read.map(({ path, file }) => `${file.kind} ${path} ${file.blobId}`)
  return { digest: compiled.digest, objects: objects.toSorted() }
}

function seen({ view, published }: WriteScene): { digest: string; objects: string[] } {
  const snapshot = view.snapshot()
  const objects = kindNames.flatMap((kind) =>
    snapshot.list(kind).map(({ path, blobId }) => `${kind} ${path} ${blobId}`),
  )
  const { digest } = published.at(-1)!.signedRecord.record
  return { digest, objects: objects.toSorted() }
}

function assertSettled(requests: readonly Request[], results: readonly CommitResult[]): void {
  for (const [i, result] of results.entries()) {
    const { isBad, operations } = requests[i]!
    const said = JSON.stringify([operations, result])
    assert.equal(result.ok, !isBad, said)
    if (!result.ok) assert(['conflict', 'invalid'].includes(result.error.code), said)
  }
}

/** The last good value that was sent of each service is the one that it has. */
function assertFields({ view }: WriteScene, requests: readonly Request[]): void {
  const wanted = new Map<string, unknown>()
  for (const { operations } of requests.filter(({ isBad }) => !isBad)) {
    for (const operation of operations) {
      if (operation.verb !== 'update' || !('name' in operation.target)) continue
      for (const [field, value] of Object.entries(operation.patch)) {
        wanted.set(`${operation.target.name} ${field}`, value)
      }
    }
  }
  for (const [key, value] of wanted) {
    const [name = '', field = ''] = key.split(' ')
    const entry = view.snapshot().find('Service', tenant, name)
    assert.equal((entry?.object.spec as Record<string, unknown> | undefined)?.[field], value, key)
  }
}

const batches = fc.array(fc.array(request, { minLength: 1, maxLength: 7 }), {
  minLength: 1,
  maxLength: 4,
})

test('writes in batches give what a clean look finds', { timeout: 600_000 }, async () => {
  let runs = 0
  await fc.assert(
    fc.asyncProperty(batches, async (all) => {
      const options = { dataDir: join(home, String(++runs)), pem: newPem() }
      await seedOrigin(options, files)
      const scene = await startWriteScene(options)
      try {
        for (const batch of all) {
          const requests = batch.map((make) => make())
          // In one turn of the loop: they share a commit.
          const results = await Promise.all(
            requests.map(({ operations }) => scene.write(...operations)),
          )
          assertSettled(requests, results)
          assertFields(scene, requests)
          assert.deepEqual(seen(scene), await cleanLook(options.dataDir))
        }
        assert.equal(scene.status().faultAtMs, 0)
      } finally {
        await scene.stop()
        rmSync(options.dataDir, { recursive: true, force: true })
      }
    }),
    { numRuns: laneCount(60, 10) },
  )
})
