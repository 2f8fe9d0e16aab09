// A process that writes to its own repository for a while, and reports its rate. Run by the
// benchmark `writes`.
import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { signingKeyFromPem } from '#bundle/signature/channel.ts'
import { formatCommit } from '#gitops/git/objects/commit-object.ts'
import { GitopsControl } from '#gitops/thread/control.ts'
import { createDiskDriver } from '#gitops/git/disk-driver.ts'
import { originPath } from '#gitops/thread/options.ts'
import { ensureOrigin } from '#gitops/source/origin.ts'
import type { Operation } from '#config/operation.ts'
import { buildNode } from '#test/support/node-under-test.ts'
import { waitUntil } from '#test/support/wait-until.ts'
import { poolFiles } from '../data/pool-files.ts'
import { percentile } from '../support/statistics.ts'

export interface WriteRun {
  readonly verb: string
  readonly clients: number
  readonly writes: number
  readonly commits: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly worstMs: number
  readonly cpuMsPerWrite: number
}

/** Runs: number of clients, and after a colon the operation; by default they update pools. */
const [dataDir = '', poolCount = '10000', seconds = '10', runsText = '1,16,64,256'] =
  process.argv.slice(2)
const pools = Number(poolCount)
const tenant = 'default'
async function seed(): Promise<void> {
  const gitdir = originPath(dataDir)
  mkdirSync(dataDir, { recursive: true })
  const made = ensureOrigin(gitdir, 'main')
  if (!made.ok) throw new Error(made.error)
  const driver = createDiskDriver(gitdir)
  const files = Array.from(poolFiles(pools), ({ path, text }) => [path, Buffer.from(text)] as const)
  const planned = await driver.planFiles(null, new Map(files))
  if (!planned.ok) throw new Error(planned.error.reason)
  await driver.writeObjects(planned.value.objects)
  const author = { name: 'bench <bench@example.com>', seconds: 1_700_000_000 }
  const draft = { tree: planned.value.tree, parents: [], author, committer: author, message: 'one' }
  const commit = driver.writeObject(
    'commit',
    formatCommit(draft, () => ''),
  )
  const moved = await driver.moveRef('refs/heads/main', null, commit)
  if (!moved.ok) throw new Error(moved.error.reason)
}

/** Consecutive writes are about different objects: 7,919 is a prime. */
const operations: Readonly<Record<string, (n: number, run: number) => Operation>> = {
  update: (n, run) => ({
    verb: 'update',
    kind: 'Pool',
    target: { tenant, name: `p${(n * 7_919) % pools}` },
    patch: { healthCheck: { type: 'tcp', port: 1 + ((run * 131 + n) % 60_000) } },
  }),
  create: (n) => ({
    verb: 'create',
    kind: 'Service',
    tenant,
    name: `new${n}`,
    spec: { domain: `new${n}.example.com.`, pool: `p${(n * 7_919) % pools}` },
  }),
  // The service of the pool changes, too: two files.
  rename: (n) => {
    const name = `p${(n * 7_919) % pools}`
    return { verb: 'rename', kind: 'Pool', target: { tenant, name }, name: `renamed-${name}` }
  },
  delete: (n) => ({
    verb: 'delete',
    kind: 'Service',
    target: { tenant, name: `s${(n * 7_919) % pools}` },
  }),
}

async function measure(control: GitopsControl, runText: string, run: number): Promise<WriteRun> {
  const [countText, verb = 'update'] = runText.split(':')
  const count = Number(countText)
  const operation = operations[verb]
  if (operation === undefined) throw new Error(`no operation "${verb}"`)
  const times: number[] = []
  const revisions = new Set<string>()
  const cpu = process.cpuUsage()
  const startedMs = performance.now()
  const endMs = startedMs + Number(seconds) * 1_000
  let next = 0
  const client = async (): Promise<void> => {
    while (performance.now() < endMs) {
      const n = next++
      const sentMs = performance.now()
      const written = await control.write({
        requestId: `bench-${n}`,
        actor: { name: 'bench', address: 'bench@users.gslbd' },
        operations: [operation(n, run)],
      })
      if (!written.ok) throw new Error(written.error.message)
      times.push(performance.now() - sentMs)
      revisions.add(written.value.revision)
    }
  }
  await Promise.all(Array.from({ length: count }, client))
  const elapsedMs = performance.now() - startedMs
  const { user, system } = process.cpuUsage(cpu)
  return {
    verb,
    clients: count,
    writes: times.length,
    commits: revisions.size,
    perSecond: (times.length / elapsedMs) * 1_000,
    p50Ms: percentile(times, 50),
    p99Ms: percentile(times, 99),
    worstMs: Math.max(...times),
    cpuMsPerWrite: (user + system) / 1_000 / times.length,
  }
}

await seed()
const { privateKey } = generateKeyPairSync('ed25519')
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const { node } = buildNode({ trusted: signingKeyFromPem(pem), dataDir })
const started = await node.start()
if (!started.ok) throw new Error(started.error)
const options = {
  dataDir,
  url: '',
  branch: 'main',
  pollMs: 30_000,
  requireSignature: false,
  allowedSignersPath: '',
  channel: 'main',
  signingKeyPem: pem,
  recordTtlMs: 3_600_000,
  resume: null,
}
const control = new GitopsControl(options, {
  onPrepare: (bundle) => node.prepare(bundle),
  onPublish: (publication) => node.activate(publication),
})
await control.start()
await waitUntil('the first commit', control.config.isReady, { timeoutMs: 120_000 })
const runs: WriteRun[] = []
for (const [run, text] of runsText.split(',').entries()) {
  runs.push(await measure(control, text, run))
}
await control.stop()
await node.stop()
process.stdout.write(`${JSON.stringify(runs)}\n`)
process.exit(0)
