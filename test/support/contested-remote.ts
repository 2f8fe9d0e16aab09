// A remote over HTTP that two nodes and a person may write to, and the required shape of its
// history.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { gitHttpServer } from './git-http-server.ts'
import type { GitHttpServer } from './git-http-server.ts'
import { gitSandbox } from './git-sandbox.ts'
import type { GitSandbox, SandboxKey } from './git-sandbox.ts'
import { newPem, seedOrigin, settingsYaml, signerLine } from './write-scene.ts'

export interface ContestedRemote {
  readonly box: GitSandbox
  /** Keys of the two nodes. */
  readonly pems: { readonly one: string; readonly two: string }
  /** The person's. */
  readonly bob: SandboxKey
  /** Path of the file that trusts all three. */
  readonly signers: string
  readonly gitdir: string
  readonly server: GitHttpServer
  readonly url: string
}

/** @param files beside `gslb.yaml`, in the first commit */
export async function contestedRemote(
  files: Readonly<Record<string, string>> = {},
): Promise<ContestedRemote> {
  const box = gitSandbox()
  const pems = { one: newPem(), two: newPem() }
  for (const [name, pem] of Object.entries(pems)) writeFileSync(box.at(`${name}.pem`), pem)
  const bob = box.sshKey('bob')
  const nodes = `${signerLine('one@gslbd', pems.one)}${signerLine('two@gslbd', pems.two)}`
  const signers = box.write('signers', `${nodes}bob@example.com ${bob.publicLine}\n`)
  const first = { 'gslb.yaml': settingsYaml, ...files }
  await seedOrigin({ dataDir: box.at('origin'), pem: pems.one }, first)
  const gitdir = box.at('origin/config.git')
  box.git(gitdir, 'config', 'http.receivepack', 'true')
  const server = await gitHttpServer(box.at('origin'))
  return { box, pems, bob, signers, gitdir, server, url: server.url('config.git') }
}

/**
 * Asserts no merge, no empty commit, and a listed signer for each.
 *
 * @returns the number of commits
 */
export function assertStraight({ box, gitdir, signers }: ContestedRemote): number {
  const log = box.git(gitdir, 'log', '--format=%H %T %P', 'main').split('\n')
  const trees = new Map(log.map((line) => [line.split(' ')[0], line.split(' ')[1]]))
  for (const line of log) {
    const [commit, tree, ...parents] = line.split(' ')
    assert(parents.length <= 1, `${commit} is no merge`)
    if (parents[0] !== undefined) assert.notEqual(tree, trees.get(parents[0]), `${commit} is empty`)
  }
  const trust = ['-c', `gpg.ssh.allowedSignersFile=${signers}`]
  const verdicts = box.git(gitdir, ...trust, 'log', '--format=%G?', 'main').split('\n')
  assert.deepEqual(new Set(verdicts), new Set(['G']))
  return log.length
}
