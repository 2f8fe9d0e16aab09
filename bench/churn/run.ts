// Two nodes of one remote under random writes of three tenants, by API and Git: every few seconds
// writes pause, and each node is compared with a clean look at the branch.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Random } from '#lib/random.ts'
import { callApi } from '#test/support/api-client.ts'
import { waitUntil } from '#test/support/wait-until.ts'
import { newPem, signerLine } from '#test/support/write-scene.ts'
import { systemKey, whatItSaid } from '../servers/api-daemon.ts'
import { freePort } from '../servers/free-port.ts'
import { nodeFlags, startProgram } from '../servers/program.ts'
import type { Program } from '../servers/program.ts'
import { runningPorts } from '../servers/pulling-nodes.ts'
import { plainTable } from '../support/print-table.ts'
import { ApiLane, sharedCount, sharedName, Tally } from './api-lanes.ts'
import { cleanLook, differences, originOf } from './clean-look.ts'
import type { LookedAt } from './clean-look.ts'
import { GitPerson, pathOf, poolText, serviceText } from './git-person.ts'

export interface ChurnOptions {
  readonly seconds: number
  readonly seed: number
  /** Keeps logs and repositories. */
  readonly isKept: boolean
}

interface ChurnNode extends LookedAt {
  readonly program: Program
}

const tenants = ['acme', 'beta', 'gamma'] as const
const nodeNames = ['one', 'two'] as const
const roundMs = 10_000
const startPatienceMs = 300_000
/** Clients at each node, for each tenant. */
const lanesEach = 2
const faultsShown = 10
const main = fileURLToPath(import.meta.resolve('#cli/main.ts'))
const gitServer = fileURLToPath(new URL('../chaos/git-server.ts', import.meta.url))
const account = (tenant: string) => ({
  email: `${tenant}@example.com`,
  password: `password of ${tenant}`,
})

/** @returns whether there was no fault */
export async function runChurn({ seconds, seed, isKept }: ChurnOptions): Promise<boolean> {
  const directory = mkdtempSync(join(tmpdir(), 'gslbd-churn-'))
  const programs: Program[] = []
  const tally = new Tally()
  try {
    const random = new Random(seed)
    const origin = makeOrigin(directory)
    const person = new GitPerson({ directory, origin, tenants, random, tally })
    const pems = new Map(nodeNames.map((name) => [name, newPem()]))
    const lines = [...pems].map(([name, pem]) => signerLine(`${name}@gslbd`, pem))
    writeFileSync(join(directory, 'signers'), lines.join('') + (await person.makeKey()))
    await person.first(firstFiles())
    const port = await freePort()
    const root = join(directory, 'root')
    programs.push(startProgram(process.execPath, [gitServer, root, '127.0.0.1', String(port)]))
    const url = `http://127.0.0.1:${port}/config.git`
    const nodes: ChurnNode[] = []
    for (const [name, pem] of pems) {
      const program = startNode(directory, { name, pem, url })
      programs.push(program)
      const ports = runningPorts(program, startPatienceMs).catch((error: unknown) => {
        throw whatItSaid(program, error)
      })
      nodes.push({ name, program, ...(await ports) })
    }
    const lanes = await makeLanes(nodes, random, tally)
    await churn({ lanes, nodes, person, tally, origin, seconds })
  } finally {
    await Promise.all(programs.reverse().map((program) => program.stop()))
    if (isKept) process.stderr.write(`${directory}\n`)
    else rmSync(directory, { recursive: true, force: true })
  }
  print(tally, { seconds, seed })
  return tally.faults.length === 0
}

interface Churn {
  readonly lanes: readonly ApiLane[]
  readonly nodes: readonly ChurnNode[]
  readonly person: GitPerson
  readonly tally: Tally
  readonly origin: string
  readonly seconds: number
}

async function churn({ lanes, nodes, person, tally, origin, seconds }: Churn): Promise<void> {
  const endMs = performance.now() + seconds * 1_000
  while (performance.now() < endMs && tally.faults.length < faultsShown) {
    const untilMs = Math.min(endMs, performance.now() + roundMs)
    await Promise.all([person.run(untilMs), ...lanes.map((lane) => lane.run(untilMs))])
    const clean = await cleanLook(origin)
    for (const node of nodes) {
      for (const words of await differences(node, systemKey, clean)) tally.fault(words)
      if (/failed by a mistake/.test(node.program.output()))
        tally.fault(`${node.name}: see its log`)
    }
    for (const { own } of lanes) {
      for (const [name, ttl] of own) {
        const is = clean.services.get(name)?.spec.ttl ?? null
        if (is !== ttl) tally.fault(`${name} has the TTL ${is}, and ${ttl} was acknowledged`)
      }
    }
    tally.add('looks at both nodes')
    tally.counts.set('services at the end', clean.services.size)
  }
}

function makeOrigin(directory: string): string {
  const origin = originOf(directory)
  mkdirSync(origin, { recursive: true })
  execFileSync('git', ['init', '-q', '--bare', '-b', 'main', '--object-format=sha1', origin])
  execFileSync('git', ['-C', origin, 'config', 'http.receivepack', 'true'])
  return origin
}

function firstFiles(): Readonly<Record<string, string>> {
  const files: Record<string, string> = { 'gslb.yaml': settings }
  for (const [i, tenant] of tenants.entries()) {
    files[`tenants/${tenant}/tenant.yaml`] =
      `apiVersion: gslb/v1\nkind: Tenant\nmetadata: { name: ${tenant} }\nspec: {}\n`
    for (const [j, pool] of [`${tenant}-pool`, `${tenant}-git`].entries()) {
      const addresses = [1, 2, 3].map((k) => `10.0.${i}.${10 * j + k}`)
      files[pathOf(tenant, 'pools', pool)] = poolText(pool, addresses)
    }
    for (let k = 0; k < sharedCount; k++) {
      const name = sharedName(tenant, k)
      files[pathOf(tenant, 'services', name)] = serviceText(name, `${tenant}-pool`, 60)
    }
  }
  return files
}

/** The changes here would exceed any guardrail. */
const settings = `apiVersion: gslb/v1
kind: Settings
metadata: { name: settings }
spec:
  zones:
    - name: example.com.
      nameservers:
        - { name: ns1.example.com., addresses: ["127.0.0.1"] }
      soa: { mname: ns1.example.com., rname: hostmaster.example.com. }
  defaults:
    nameservers:
      - { name: ns1.example.com. }
  guardrails: { removedNames: 100, changedNames: 100, removedMembers: 100, lostRedundancy: 100 }
`

interface NodeParts {
  readonly name: string
  readonly pem: string
  readonly url: string
}

function startNode(directory: string, { name, pem, url }: NodeParts): Program {
  const home = join(directory, name)
  mkdirSync(join(home, 'data', 'keys'), { recursive: true })
  writeFileSync(join(home, 'data', 'keys', 'node.pem'), pem, { mode: 0o600 })
  const file = join(home, 'gslbd.yaml')
  const written = {
    dataDir: './data',
    dns: { listenAddr: '127.0.0.1', port: 0, threads: 1 },
    api: { enabled: true, port: 0 },
    health: { enabled: false },
    gitops: { url, allowedSigners: join(directory, 'signers'), poll: '1s' },
  }
  writeFileSync(file, JSON.stringify(written))
  const args = [...nodeFlags, main, 'serve', '--settings', file]
  return startProgram(process.execPath, args, { env: { GSLB_API_KEY: systemKey } })
}

async function makeLanes(
  nodes: readonly ChurnNode[],
  random: Random,
  tally: Tally,
): Promise<readonly ApiLane[]> {
  const lanes: ApiLane[] = []
  for (const tenant of tenants) {
    const bearers = new Map<string, string>()
    for (const node of nodes) bearers.set(node.name, await logIn(node, tenant))
    for (const node of nodes) {
      const others = nodes.filter((one) => one !== node)
      for (let i = 0; i < lanesEach; i++) {
        const name = `${tenant}-${node.name}${i}`
        const own = new Random(random.next())
        lanes.push(
          new ApiLane({ nodes: [node, ...others], bearers, tenant, name, random: own, tally }),
        )
      }
    }
  }
  return lanes
}

async function logIn(node: ChurnNode, tenant: string): Promise<string> {
  const isReady = async (): Promise<boolean> =>
    (await callApi(node, 'GET', '/ready')).status === 200
  await waitUntil(`${node.name} to be ready`, isReady, { timeoutMs: startPatienceMs })
  const body = { ...account(tenant), role: 'operator', tenantId: tenant }
  const made = await callApi(node, 'POST', '/users', { bearer: systemKey, body })
  if (made.status !== 201) throw new Error(`no account of ${tenant}: ${made.body.error}`)
  const call = { body: account(tenant) }
  const { body: session } = await callApi<{ token: string }>(node, 'POST', '/auth/login', call)
  return session.token
}

function print(tally: Tally, { seconds, seed }: Pick<ChurnOptions, 'seconds' | 'seed'>): void {
  const rows = [...tally.counts].sort().map(([what, count]) => [what, String(count)])
  rows.push(['faults', String(tally.faults.length)])
  const notes = tally.faults.slice(0, faultsShown).map((words) => words.slice(0, 500))
  const title = `Writes of three tenants to two nodes for ${seconds} s, seed ${seed}`
  process.stdout.write(`${plainTable({ title, columns: ['what', 'count'], rows, notes })}\n`)
}
