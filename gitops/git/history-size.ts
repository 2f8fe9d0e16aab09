// Counts the commits of a history: the serial of the SOA records, equal on every node.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { CommitGraph } from './commit-graph.ts'
import type { GitDriver, ObjectError } from '#gitops/git/objects/driver.ts'
import { gitLimits } from '#gitops/limits.ts'

export interface HistoryBelow {
  readonly commit: string
  /** Number of commits; 0: not known. */
  readonly size: number
}

/**
 * Counts as `git rev-list --count HEAD` does. A commit counts more than each of its ancestors,
 * whatever the clocks and the order of parents, so a serial made of the count always rises.
 *
 * @param accepted the commit whose size is known, in the history of `head`
 * @param commits those that `head` has beyond it, as `CommitGraph` finds them
 */
export async function historySize(
  parts: { readonly driver: Pick<GitDriver, 'readCommit'>; readonly graph: CommitGraph },
  head: string,
  accepted: HistoryBelow | null,
  commits: readonly string[],
): Promise<Result<number, ObjectError>> {
  if (accepted === null || accepted.size === 0) return countAll(parts.driver, head)
  return ok(accepted.size + (await parts.graph.countNew(accepted.commit, commits)))
}

/** Counts by parents alone: the commits below the first head are not verified. */
async function countAll(
  driver: Pick<GitDriver, 'readCommit'>,
  head: string,
): Promise<Result<number, ObjectError>> {
  const seen = new Set([head])
  let count = 0
  for (const oid of seen) {
    const raw = await driver.readCommit(oid)
    // A shallow clone ends here: the parent is not in the repository.
    if (!raw.ok && raw.error.kind === 'missing') continue
    if (!raw.ok) return raw
    count++
    for (const parent of parentsOf(raw.value)) seen.add(parent)
    if (seen.size > gitLimits.historyCommitsMax) return err(tooLong)
  }
  return ok(count)
}

const tooLong: ObjectError = {
  kind: 'refused',
  reason:
    `The history has more than ${gitLimits.historyCommitsMax} commits. Go on in a new repository ` +
    'with the same files.',
}

/**
 * Length of the first line of a commit: `tree`, a space, 40 digits and a line feed. A line for each
 * parent follows.
 */
const treeLineBytes = 46
const parentLineBytes = 48

function parentsOf(raw: Uint8Array): string[] {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  const parents: string[] = []
  for (let at = treeLineBytes; ; at += parentLineBytes) {
    const line = bytes.toString('latin1', at, at + parentLineBytes)
    if (!/^parent [0-9a-f]{40}\n$/.test(line)) return parents
    parents.push(line.slice(7, 47))
  }
}
