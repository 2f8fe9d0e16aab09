// Compares the nodes' view of the branch with that of a fresh process.
import { join } from 'node:path'
import type { ReadFile } from '#compiler/read/read-file.ts'
import { createDiskDriver } from '#gitops/git/disk-driver.ts'
import { parseCommit } from '#gitops/git/objects/commit-object.ts'
import { createCompilePort } from '#gitops/sync/compile-adapter.ts'
import { SourceReader } from '#gitops/sync/compile-port.ts'
import type { ObjectOf } from '#schemas/kinds.ts'
import { callApi } from '#test/support/api-client.ts'
import { ask } from '#test/support/dns/client.ts'
import { linesOf } from '#test/support/dns/record.ts'
import { waitUntil } from '#test/support/wait-until.ts'
import type { ApiNode } from './api-lanes.ts'

export interface LookedAt extends ApiNode {
  readonly port: number
}

interface Listed {
  readonly name: string
  readonly domain?: string
  readonly ttl?: number
}

interface CleanLook {
  readonly commit: string
  readonly digest: string
  readonly pools: ReadonlyMap<string, ObjectOf['Pool']>
  readonly services: ReadonlyMap<string, ObjectOf['Service']>
}

const settleMs = 120_000

export async function cleanLook(gitdir: string): Promise<CleanLook> {
  const driver = createDiskDriver(gitdir)
  const oid = driver.readRef('refs/heads/main') ?? ''
  const raw = await driver.readCommit(oid)
  const commit = raw.ok ? parseCommit(raw.value) : raw
  if (!commit.ok) throw new Error(`the head ${oid} cannot be read`)
  const compiler = createCompilePort()
  const files = await new SourceReader(() => driver, compiler).read(commit.value.tree)
  if (!files.ok) throw new Error(files.error.reason)
  const compiled = compiler.compile(files.value, oid)
  if (!compiled.ok) throw new Error(`the head ${oid} has errors`)
  const named = <K extends 'Pool' | 'Service'>(kind: K): Map<string, ObjectOf[K]> => {
    const own = compiled.read.filter(({ file }) => file.kind === kind)
    const objectIn = ({ object }: ReadFile): ObjectOf[K] => object as ObjectOf[K]
    return new Map(own.map(({ file }) => [objectIn(file).metadata.name, objectIn(file)]))
  }
  const { digest } = compiled
  return { commit: oid, digest, pools: named('Pool'), services: named('Service') }
}

/** @returns a sentence for each difference, once the node has the head */
export async function differences(
  node: LookedAt,
  bearer: string,
  clean: CleanLook,
): Promise<readonly string[]> {
  const get = async <T>(path: string): Promise<T> =>
    (await callApi<T>(node, 'GET', path, { bearer })).body
  type Status = { readonly active: string; readonly node: { readonly digest: string } }
  const status = (): Promise<Status> => get<Status>('/gitops/status')
  const hasIt = async (): Promise<boolean> => (await status()).active === clean.commit
  await waitUntil(`${node.name} to have the head`, hasIt, { timeoutMs: settleMs })
  const found: string[] = []
  const compare = (what: string, is: unknown, shouldBe: unknown): void => {
    const [one, other] = [JSON.stringify(is), JSON.stringify(shouldBe)]
    if (one !== other) found.push(`${node.name}: ${what} is ${one}, and should be ${other}`)
  }
  compare('the digest', (await status()).node.digest, clean.digest)
  const { status: health, reasons } = await get<{ status: string; reasons: object[] }>('/health')
  compare('the health', [health, reasons], ['ok', []])
  const pools = await get<readonly Listed[]>('/pools')
  compare('the list of pools', pools.map(({ name }) => name).sort(), [...clean.pools.keys()].sort())
  const services = await get<readonly Listed[]>('/services')
  const listed = services.map(({ name, domain, ttl }) => `${name} ${domain} ${ttl}`)
  const declared = [...clean.services].map(
    ([name, { spec }]) => `${name} ${spec.domain} ${spec.ttl}`,
  )
  compare('the list of services', listed.sort(), declared.sort())
  for (const [, { spec }] of clean.services) {
    const answer = await ask({ host: '127.0.0.1', port: node.port }, `${spec.domain} A`)
    compare(`the answer for ${spec.domain}`, linesOf(answer.answer).sort(), answerOf(spec, clean))
  }
  return found
}

/** Expects all members in one answer, in any order. */
function answerOf({ domain, ttl, pool }: ObjectOf['Service']['spec'], clean: CleanLook): string[] {
  const members = clean.pools.get(pool ?? '')?.spec.members ?? []
  return members.map(({ ipAddress }) => `${domain} ${ttl} IN A ${ipAddress}`).sort()
}

export const originOf = (directory: string): string => join(directory, 'root', 'config.git')
