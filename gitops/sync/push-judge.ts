// Judges a push before the repository takes it, as the node would judge the new head.
import { CommitGraph } from '#gitops/git/commit-graph.ts'
import { createLocalSource } from '#gitops/source/local-source.ts'
import type { EarlierStates } from '#gitops/guard/earlier.ts'
import type { AcceptedCommit } from '#gitops/status/status.ts'
import { holdOf } from '#gitops/trust/accept.ts'
import type { Hold } from '#gitops/trust/accept.ts'
import { ok } from '#lib/result.ts'
import { SourceReader } from './compile-port.ts'
import type { CompiledBundle, CompilePort } from './compile-port.ts'
import { fetchHead, judgingSteps, synced, syncedWith } from './steps.ts'
import type { JudgeParts, Run, Stop } from './steps.ts'

export interface PushedHead {
  /** The commit that the branch would move to. */
  readonly head: string
  /** Folder of the objects of the push; null: they are in the repository already. */
  readonly incoming: string | null
  /** Attestations in the same push, from commit to blob. */
  readonly attestations: ReadonlyMap<string, string>
}

type Shared = 'branch' | 'requireSignature' | 'allowedSignersPath' | 'resetCommand' | 'parentDs'

interface PushParts extends PushedHead, Pick<JudgeParts, Shared> {
  readonly gitdir: string
  readonly compiler: CompilePort
  readonly accepted: AcceptedCommit | null
  /** States that answered before; see `Publisher`. */
  readonly earlier: EarlierStates
  /** Memory of a process that read the accepted commit; left out: everything is read anew. */
  readonly known?: {
    readonly reader: SourceReader
    readonly before: CompiledBundle['outline'] | undefined
    readonly unread: Hold | undefined
  }
}

/** Returns the verdict, and changes nothing. */
export async function judgePush(push: PushParts): Promise<Stop> {
  const { gitdir, branch, incoming, compiler, accepted, earlier, known } = push
  const local = createLocalSource(gitdir, branch, incoming)
  const source = {
    ...local,
    head: async () => ok(push.head),
    attestations: async () => {
      const there = await local.attestations()
      return there.ok ? ok(new Map([...there.value, ...push.attestations])) : there
    },
  }
  const parts: JudgeParts = {
    ...push,
    source,
    publisher: { accepted, earlier },
    graph: new CommitGraph(local.driver),
    reader: known?.reader.over(local.driver) ?? new SourceReader(() => local.driver, compiler),
  }
  const fetched = await fetchHead(parts, accepted?.commit ?? null, false)
  if (!fetched.ok) return fetched.error.stop
  if (!('commit' in fetched.value) || push.head === accepted?.commit) return synced
  const run: Run = fetched.value
  const { before, unread } = known ?? (await readAccepted(parts, accepted))
  run.before = before
  run.unread = unread
  for (const step of judgingSteps) {
    const stop = await step.run(parts, run)
    if (stop !== undefined) return stop
  }
  return run.compiled === undefined ? synced : syncedWith(run.compiled, run.backs)
}

async function readAccepted(
  { graph, reader, compiler }: JudgeParts,
  accepted: AcceptedCommit | null,
): Promise<Pick<Run, 'before' | 'unread'>> {
  if (accepted === null) return { before: undefined, unread: undefined }
  const commit = await graph.commit(accepted.commit)
  const files = commit.ok ? await reader.read(commit.value.tree) : commit
  if (!files.ok) return { before: undefined, unread: holdOf(files.error) }
  const outcome = compiler.compile(files.value, accepted.commit)
  return { before: outcome.ok ? outcome.outline : undefined, unread: undefined }
}
