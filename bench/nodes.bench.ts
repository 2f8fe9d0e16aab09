// Measures the time from a commit to the answers of five pulling nodes, and the cost to such a node
// of changing one service in a million.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createPublicKey } from 'node:crypto'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { signChannelRecord, signingKeyFromPem } from '#bundle/signature/channel.ts'
import type { ChannelRecord, SigningKey } from '#bundle/signature/channel.ts'
import { bundleDigest } from '#bundle/signature/digest.ts'
import { signBundle } from '#bundle/signature/sign.ts'
import { publishTree } from '#fleet/publish.ts'
import { callApi } from '#test/support/api-client.ts'
import { newPem, signerLine } from '#test/support/write-scene.ts'
import { waitUntil } from '#test/support/wait-until.ts'
import { fixed, mib } from './report.ts'
import type { BenchContext, Figure, Report, Table } from './report.ts'
import { listed, systemKey, whatItSaid } from './servers/api-daemon.ts'
import { ConfigRepository, probeName } from './servers/config-repository.ts'
import { bundleFiles } from './data/encode-bundle.ts'
import { residentBytes } from './support/process-cpu.ts'
import { nodeFlags, startProgram } from './servers/program.ts'
import { bundleToken, runningPorts, startPullingNode } from './servers/pulling-nodes.ts'
import type { PullingNode } from './servers/pulling-nodes.ts'
import { answersWith, hasAnswer } from './load/query-client.ts'
import { median, range } from './support/statistics.ts'
import { serveTree } from './servers/tree-server.ts'

const main = fileURLToPath(import.meta.resolve('#cli/main.ts'))
const nodeCount = 5
const sizes = [20, 10_000] as const
/** Interval of queries: five clients on two cores must not dominate the measurement. */
const everyMs = 4
/** Pause until the work of the last change is done, and nodes wait for news again. */
const restMs = 2_000

export async function runNodes(context: BenchContext): Promise<Report> {
  const figures: Record<string, Figure> = {}
  const rows: string[][] = []
  for (const services of sizes) {
    for (const [way, times] of Object.entries(await measureSpread(context, services))) {
      const last = times.map((each) => Math.max(...each))
      const first = times.map((each) => Math.min(...each))
      const n = times.length
      const [firstMs, lastMs] = [median(first), median(last)].map((ms) => fixed(ms, 0))
      rows.push([String(services), way, String(n), firstMs!, lastMs!, range(last, 0)])
      const name = `nodes.${services}.${way.split(' ', 1)[0]}.all`
      figures[name] = { value: median(last), unit: 'ms', n }
    }
  }
  const spread: Table = {
    title: `From a change to the answer of ${nodeCount} nodes that pull from one control node`,
    columns: ['services', 'by', 'n', 'first node ms', 'all nodes ms', 'all min-max'],
    rows,
    notes: [
      'push: since `git push` began; API: since the request was sent, which is answered before the nodes have it',
      `each node is a process with one responder, asked over UDP every ${everyMs} ms; all six share this machine; no waves`,
    ],
  }
  return { tables: [spread, await measureMillion(context)], figures }
}

/** Milliseconds to each node's answer, for each change. */
type Times = readonly (readonly number[])[]

async function measureSpread(
  context: BenchContext,
  services: number,
): Promise<Record<string, Times>> {
  const home = join(context.directory, String(services))
  const { repository, pem } = await makeSite(home)
  const args = [...nodeFlags, main, 'serve', '--settings', join(home, 'gslbd.yaml')]
  const env = { GSLB_API_KEY: systemKey, GSLB_BUNDLE_TOKEN: bundleToken }
  const control = startProgram(process.execPath, args, { env })
  const nodes: PullingNode[] = []
  try {
    const { apiPort } = await runningPorts(control)
    const origin = join(home, 'data', 'config.git')
    await waitUntil('the origin', () => existsSync(join(origin, 'HEAD')))
    await repository.open(origin)
    repository.writeMany(services, '192.0.2.1')
    await repository.commitAndPush(['.'])
    const given = { url: `http://127.0.0.1:${apiPort}`, publicPem: publicPemOf(pem) }
    for (let i = 0; i < nodeCount; i++) {
      nodes.push(await startPullingNode(join(home, `node-${i}`), given))
    }
    await answered(nodes, '192.0.2.1')
    const byPush = await pushes(context, repository, nodes)
    const byApi = await writes(context, { apiPort }, nodes)
    return { push: byPush, 'API, PATCH of a member': byApi }
  } catch (error) {
    throw whatItSaid(control, error)
  } finally {
    await Promise.all(nodes.map((node) => node.stop()))
    await control.stop()
  }
}

/** Makes a control node that trusts its own key and that of a person. */
async function makeSite(home: string): Promise<{ repository: ConfigRepository; pem: string }> {
  const dataDir = join(home, 'data')
  mkdirSync(join(dataDir, 'keys'), { recursive: true })
  const pem = newPem()
  writeFileSync(join(dataDir, 'keys', 'node.pem'), pem, { mode: 0o600 })
  const repository = new ConfigRepository(home)
  const signers = (await repository.makeKey()) + signerLine('node@gslbd', pem)
  writeFileSync(join(dataDir, 'allowed_signers'), signers)
  const settings = { dataDir: './data', roles: ['control'], api: { enabled: true, port: 0 } }
  writeFileSync(join(home, 'gslbd.yaml'), JSON.stringify(settings))
  return { repository, pem }
}

const changesOf = ({ isQuick }: BenchContext): number => (isQuick ? 3 : 15)

async function pushes(
  context: BenchContext,
  repository: ConfigRepository,
  nodes: readonly PullingNode[],
): Promise<Times> {
  const times: number[][] = []
  for (let i = 0; i < changesOf(context); i++) {
    context.say(`push ${i + 1}`)
    const address = `192.0.2.${10 + i}`
    repository.writeProbe(address)
    await sleep(restMs)
    const all = answered(nodes, address)
    const [at, { pushStartedMs }] = await Promise.all([all, repository.commitAndPush()])
    times.push(at.map((ms) => ms - pushStartedMs))
  }
  return times
}

async function writes(
  context: BenchContext,
  daemon: { readonly apiPort: number },
  nodes: readonly PullingNode[],
): Promise<Times> {
  const times: number[][] = []
  // Nodes get the last push a moment before the API does.
  await sleep(restMs)
  const path = `/members/${await memberOf(daemon)}`
  for (let i = 0; i < changesOf(context); i++) {
    context.say(`write ${i + 1}`)
    const ipAddress = `192.0.2.${110 + i}`
    await sleep(restMs)
    const all = answered(nodes, ipAddress)
    const startedMs = performance.now()
    const written = callApi(daemon, 'PATCH', path, { bearer: systemKey, body: { ipAddress } })
    const [at, { status }] = await Promise.all([all, written])
    if (status !== 200) throw new Error(`the write was answered ${status}`)
    times.push(at.map((ms) => ms - startedMs))
  }
  return times
}

const answered = (nodes: readonly PullingNode[], address: string): Promise<number[]> =>
  Promise.all(
    nodes.map(({ client }) => client.waitFor(probeName, answersWith(address), { everyMs })),
  )

/** The only member of the pool `probe`. */
async function memberOf(daemon: { readonly apiPort: number }): Promise<string> {
  const pool = (await listed(daemon, '/pools')).find(({ name }) => name === 'probe')
  const [member] = await listed(daemon, `/pools/${pool?.id}/members`)
  if (member === undefined) throw new Error('the pool of the probe has no member')
  return member.id
}

const publicPemOf = (pem: string): string =>
  createPublicKey(pem).export({ type: 'spki', format: 'pem' }).toString()

/** A tree of files behind a plain web server, so that no control node's work counts. */
async function measureMillion({ isQuick, directory, say }: BenchContext): Promise<Table> {
  const services = isQuick ? 10_000 : 1_000_000
  say(`${services} services: encoding`)
  const { paths, fileBytes } = await bundleFiles(directory, 'nodes', { services, pools: 10_000 })
  const pem = newPem()
  const tree = join(directory, 'tree')
  const publish = publisherTo(tree, paths, signingKeyFromPem(pem))
  await publish(1)
  const server = await serveTree(tree)
  const given = { url: server.url, publicPem: publicPemOf(pem), poll: '100ms' }
  const node = await startPullingNode(join(directory, 'one'), given)
  const { pid } = node.program
  const rows: string[][] = []
  const name = 'svc0.gslb.example.com'
  const waitFor = (isIt: (reply: Buffer) => boolean) =>
    node.client.waitFor(name, isIt, { everyMs, patienceMs: 120_000 })
  const add = async (what: string, publishMs: number, ms: number): Promise<void> => {
    await sleep(5_000)
    const { deltas, bundles } = server.sent()
    const { now, peak } = residentBytes(pid)
    const seconds = [publishMs, ms].map((each) => fixed(each / 1_000, 2))
    const sent = [deltas, bundles].map((bytes) => fixed(bytes / 1_000, 1))
    rows.push([what, seconds[0]!, sent[0]!, sent[1]!, seconds[1]!, mib(now), mib(peak)])
  }
  try {
    const startedMs = performance.now()
    await add('the first pull', 0, (await waitFor(hasAnswer)) - startedMs)
    for (const [seq, what] of [
      [2, 'the TTL of one'],
      [3, 'back again, from its disk'],
    ] as const) {
      say(`${services} services: change ${seq - 1}`)
      // Resets the peak, which then is that of the change.
      writeFileSync(`/proc/${pid}/clear_refs`, '5')
      const publishMs = await publish(seq)
      const sinceMs = performance.now()
      const ttl = seq % 2 === 1 ? 60 : 61
      const at = await waitFor((reply) => hasAnswer(reply) && ttlOf(reply) === ttl)
      await add(what, publishMs, at - sinceMs)
    }
  } catch (error) {
    throw whatItSaid(node.program, error)
  } finally {
    await node.stop()
    await server.close()
  }
  const columns = ['change', 'publish s', 'delta KB', 'whole KB', 'answered after s']
  return {
    title: `One service of ${services}: what a node that pulls gets and takes`,
    columns: [...columns, 'MiB', 'peak MiB'],
    rows,
    notes: [
      `the bundle has ${fixed(fileBytes / 1e6, 0)} MB; publish: writing the tree and the delta, in another process`,
      'answered: since the record was there, for which the node asks a plain web server every 50 to 150 ms; the first time since the node listened',
      'memory of the whole process 5 s later, and its peak since just before the change',
    ],
  }
}

/** TTL of the only A record in a reply without EDNS. */
const ttlOf = (reply: Buffer): number => reply.readUInt32BE(reply.length - 10)

/** @returns milliseconds taken to write the bundle of an odd or even seq */
function publisherTo(
  tree: string,
  paths: readonly [string, string],
  key: SigningKey,
): (seq: number) => Promise<number> {
  mkdirSync(tree)
  let before: ChannelRecord | undefined
  return async (seq) => {
    const bytes = readFileSync(paths[(seq + 1) % 2]!)
    signBundle(bytes, key)
    const digest = bundleDigest(bytes)
    const nowMs = Date.now()
    const record: ChannelRecord = {
      ...{ channel: 'main', seq, digest, previous: before?.digest ?? '', commit: '' },
      ...{ issuedAtMs: nowMs, expiresAtMs: nowMs + 3_600_000 },
    }
    const startedMs = performance.now()
    const done = await publishTree(tree, signChannelRecord(record, key), bytes, before)
    if (!done.ok) throw new Error(done.error)
    before = record
    return performance.now() - startedMs
  }
}
