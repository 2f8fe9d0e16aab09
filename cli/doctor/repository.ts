// Checks whether the repository can be read, and has the branch.
import { existsSync } from 'node:fs'
import { createLocalSource } from '#gitops/source/local-source.ts'
import { defaultRemoteLimits } from '#gitops/source/git-program.ts'
import { findGitdir } from '#gitops/source/origin.ts'
import { parseRemoteUrl } from '#gitops/source/remote-url.ts'
import { createGitTransport } from '#gitops/source/git-transport.ts'
import { originPath } from '#gitops/thread/options.ts'
import { gitAccess } from '#node/compose/named-files.ts'
import { bad, good, unknown } from './check.ts'
import type { Check, Finding, CheckedNode } from './check.ts'

export const repository: Check = {
  name: 'repository',
  async look(node) {
    const { roles, gitops, dataDir } = node.settings
    if (!roles.includes('control')) return [good('a node of the role dns needs none')]
    if (gitops.url !== '') return [await remote(node)]
    const path = originPath(dataDir)
    if (!existsSync(path)) return [unknown(`${path} is not there yet: the first start makes it`)]
    return [await local(path, gitops.branch)]
  },
}

async function local(path: string, branch: string): Promise<Finding> {
  const gitdir = findGitdir(path)
  if (!gitdir.ok) return bad(gitdir.error, 'see gitops.url, or restore it from a backup')
  const head = await createLocalSource(gitdir.value, branch).head()
  if (!head.ok)
    return bad(head.error.reason, 'restore it from a backup: docs/operations/backups.md')
  return headFinding(path, branch, head.value ?? undefined)
}

async function remote({ settings: { gitops }, patienceMs }: CheckedNode): Promise<Finding> {
  const { branch } = gitops
  const parsed = parseRemoteUrl(gitops.url, '')
  if (!parsed.ok) return bad('gitops.url is no address of a repository', parsed.error)
  if (parsed.value.kind === 'path') return local(parsed.value.path, branch)
  const { url } = parsed.value
  const limits = { ...defaultRemoteLimits, idleMs: patienceMs, totalMs: patienceMs }
  const credentials = parsed.value.kind === 'http' ? parsed.value.credentials : ''
  const { signal: stop } = new AbortController()
  const transport = createGitTransport({
    url,
    credentials,
    access: gitAccess(gitops),
    limits,
    stop,
  })
  const ref = `refs/heads/${branch}`
  try {
    return headFinding(url, branch, (await transport.list(ref)).get(ref))
  } catch (error) {
    return bad((error as Error).message, 'see gitops.url and the network')
  }
}

function headFinding(place: string, branch: string, head: string | undefined): Finding {
  if (head !== undefined) return good(`${place} has ${branch} at ${head.slice(0, 12)}`)
  return bad(`${place} has no branch ${branch}`, 'push it, or set gitops.branch')
}
