// Answers what commits changed: along first parents from the accepted commit, in bounded steps.
import { setImmediate as turn } from 'node:timers/promises'
import { isRead } from '#compiler/read/layout.ts'
import { readFile } from '#compiler/read/read-file.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import { readyForScripts } from '#compiler/scripts/script-syntax.ts'
import { configEntry } from '#config/entry.ts'
import type { ConfigEntry } from '#config/entry.ts'
import { historyLimits } from '#config/history.ts'
import type {
  ChangedObject,
  CommitChange,
  ConfigHistory,
  FilesFault,
  HistoryCommit,
  HistoryFault,
  HistoryLimits,
  HistoryPage,
  HistoryQuestion,
  ObjectChange,
} from '#config/history.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { CommitObject } from '#gitops/git/objects/commit-object.ts'
import { CommitGraph } from '#gitops/git/commit-graph.ts'
import type { GitDriver } from '#gitops/git/objects/driver.ts'
import { changedFiles } from './changed-files.ts'
import type { ChangedFile } from './changed-files.ts'

interface ReadCommit {
  readonly parent: string | null
  readonly commit: HistoryCommit
  readonly files: readonly ChangedFile[]
  /** Octets of its changed files, before and after, together. */
  readonly bytes: number
  /** True: the commit changes more files than were read. */
  readonly isCut: boolean
}

const commitId = /^[0-9a-f]{40}$/
/** How many commits and files are read before other work of the thread gets its turn. */
const turnEvery = 50

/** Commits in turn before the span that end a walk: the clock of one of them may be behind. */
const earlierMax = 5

export class History implements ConfigHistory {
  readonly #driver: GitDriver
  readonly #graph: CommitGraph
  readonly #accepted: () => string | null
  readonly #limits: HistoryLimits
  /** Commits read so far, oldest first. They never go stale: a commit is immutable. */
  readonly #commits = new Map<string, ReadCommit>()
  /** How many commits and files `#commits` holds. */
  #kept = 0
  /** How many commits and files were read. */
  #read = 0

  constructor(driver: GitDriver, accepted: () => string | null, limits = historyLimits) {
    this.#driver = driver
    this.#graph = new CommitGraph(driver)
    this.#accepted = accepted
    this.#limits = limits
  }

  list = async (question: HistoryQuestion): Promise<Result<HistoryPage, HistoryFault>> => {
    const { tenant, object, after, commitsMax } = question
    let at = this.#accepted()
    let beforeSeconds: number | null = null
    if (after !== '') {
      const known = await this.#inLine(after)
      if (known === undefined) return err('not-found')
      at = known.parents[0] ?? null
      beforeSeconds = known.committer.seconds
    }
    const commits: HistoryCommit[] = []
    const { walkedMax, filesMax, bytesMax } = this.#limits
    let last = { commit: '', atSeconds: 0 }
    let [files, bytes, earlier] = [0, 0, 0]
    for (let walked = 0; at !== null; walked++) {
      const isEnough = walked === walkedMax || files >= filesMax || bytes >= bytesMax
      if (isEnough || commits.length === commitsMax) {
        const { commit: next, atSeconds: fromSeconds } = last
        return ok({ commits, next, beforeSeconds, fromSeconds })
      }
      const about = await this.#graph.commit(at)
      if (!about.ok) return err('unavailable')
      const { seconds } = about.value.committer
      earlier = seconds < question.fromSeconds ? earlier + 1 : 0
      if (earlier > earlierMax) break
      if (earlier > 0 || seconds >= question.beforeSeconds) {
        await this.#takeTurns()
        last = { commit: at, atSeconds: seconds }
        at = about.value.parents[0] ?? null
        continue
      }
      const isKnown = this.#commits.has(at)
      const found = await this.#readCommit(at)
      if (found === undefined) return err('unavailable')
      if (!isKnown) [files, bytes] = [files + found.files.length, bytes + found.bytes]
      const shown = visible(found.commit, tenant)
      // What else it changed was not read, and may be what is asked for.
      const isAsked = found.isCut || shown.objects.some((one) => isNamed(one, object))
      if (shown.objects.length > 0 && isAsked) commits.push(shown)
      last = found.commit
      at = found.parent
    }
    return ok({ commits, next: '', beforeSeconds, fromSeconds: null })
  }

  changeOf = async (
    commit: string,
    tenant: string | null,
  ): Promise<Result<CommitChange, HistoryFault>> => {
    if ((await this.#inLine(commit)) === undefined) return err('not-found')
    const found = await this.#readCommit(commit)
    if (found === undefined) return err('unavailable')
    const shown = visible(found.commit, tenant)
    if (shown.objects.length === 0) return err('not-found')
    const { changes } = await this.#changesIn(found.files)
    const own = changes.filter((one) => isVisible(one, tenant))
    return ok({ ...shown, changes: own, isCut: found.isCut })
  }

  filesOf = async (commit: string): Promise<Result<readonly SourceFile[], FilesFault>> => {
    const found = await this.#inLine(commit)
    if (found === undefined) return err('not-found')
    const tree = await this.#driver.readTree(found.tree)
    if (!tree.ok) return err('unavailable')
    const files: SourceFile[] = []
    let left = this.#limits.treeBytesMax
    for (const { path, oid, kind } of tree.value) {
      const file = { path, blobId: oid, kind, sizeBytes: 0, bytes: null }
      if (kind !== 'file' || !isRead(path)) {
        files.push(file)
        continue
      }
      await this.#takeTurns()
      const blob = await this.#driver.readBlob(oid, left)
      if (!blob.ok) return err(blob.error.kind === 'oversized' ? 'too-large' : 'unavailable')
      left -= blob.value.byteLength
      files.push({ ...file, sizeBytes: blob.value.byteLength, bytes: blob.value })
    }
    return ok(files)
  }

  /** @returns undefined: the commit is not in the history of the accepted one, within the limit */
  async #inLine(commit: string): Promise<CommitObject | undefined> {
    // A commit that does not exist is not searched for in the whole history.
    const found = commitId.test(commit) ? await this.#graph.commit(commit) : undefined
    if (found?.ok !== true) return undefined
    let at = this.#accepted()
    for (let depth = 0; at !== null && depth < this.#limits.depthMax; depth++) {
      if (at === commit) return found.value
      await this.#takeTurns()
      at = await this.#parentOf(at)
    }
    return undefined
  }

  /** Yields before each commit and each file: reads are synchronous, so nothing else would run. */
  async #takeTurns(): Promise<void> {
    if (++this.#read % turnEvery === 0) await turn()
  }

  async #parentOf(commit: string): Promise<string | null> {
    const known = this.#commits.get(commit)
    if (known !== undefined) return known.parent
    const found = await this.#graph.commit(commit)
    return found.ok ? (found.value.parents[0] ?? null) : null
  }

  /** @returns undefined: an object is missing or damaged */
  async #readCommit(oid: string): Promise<ReadCommit | undefined> {
    const known = this.#commits.get(oid)
    if (known !== undefined) return known
    await this.#takeTurns()
    const commit = await this.#graph.commit(oid)
    if (!commit.ok) return undefined
    const parent = commit.value.parents[0] ?? null
    const before = parent === null ? null : await this.#graph.commit(parent)
    if (before?.ok === false) return undefined
    const oldTree = before === null ? null : before.value.tree
    const all = await changedFiles(this.#driver, oldTree, commit.value.tree)
    if (!all.ok) return undefined
    const read = all.value.filter(({ path }) => isRead(path))
    const files = read.slice(0, this.#limits.objectsMax)
    const { changes, bytes, isCut } = await this.#changesIn(files)
    const { author, committer, subject } = commit.value
    const objects = changes.map(({ kind, tenant, name, uid, change }) => ({
      ...{ kind, tenant, name, uid, change },
    }))
    const about = { author: author.name, atSeconds: committer.seconds, subject, objects }
    const isMore = isCut || read.length > files.length
    const found = {
      ...{ parent, files, bytes, isCut: isMore },
      commit: { commit: oid, parent, ...about, isMore },
    }
    this.#keep(oid, found)
    return found
  }

  /** Another question may have read the commit meanwhile. */
  #keep(oid: string, found: ReadCommit): void {
    if (this.#commits.has(oid)) return
    this.#commits.set(oid, found)
    this.#kept += weightOf(found)
    for (const [oldest, { files }] of this.#commits) {
      if (this.#kept <= this.#limits.keptMax) return
      this.#commits.delete(oldest)
      this.#kept -= weightOf({ files })
    }
  }

  /** Lists changes of objects; a moved file is one object, unless it went to another tenant. */
  async #changesIn(files: readonly ChangedFile[]): Promise<Changes> {
    const pairs = new Map<string, { before: ConfigEntry | null; after: ConfigEntry | null }>()
    let bytes = 0
    let isCut = false
    for (const { path, before: old, after: now } of files) {
      for (const [side, oid] of [['before', old] as const, ['after', now] as const]) {
        if (oid === null) continue
        await this.#takeTurns()
        const blob = await this.#driver.readBlob(oid, this.#limits.commitBytesMax - bytes)
        if (!blob.ok) isCut = true
        if (!blob.ok) continue
        bytes += blob.value.byteLength
        await readyForScripts([{ bytes: blob.value }])
        const { kind, object } = readFile(oid, blob.value)
        if (kind === undefined || object === undefined) continue
        const entry = configEntry(path, oid, kind, object)
        const key = `${entry.kind} ${entry.tenant} ${entry.uid}`
        const pair = pairs.get(key) ?? { before: null, after: null }
        pairs.set(key, { ...pair, [side]: entry })
      }
    }
    const changes = [...pairs.values()].map(({ before, after }) => {
      const { kind, tenant, name, uid } = (after ?? before)!
      const change = before === null ? 'created' : after === null ? 'deleted' : 'updated'
      return { kind, tenant, name, uid, change, before, after } as const
    })
    return { changes, bytes, isCut }
  }
}

interface Changes {
  readonly changes: readonly ObjectChange[]
  readonly bytes: number
  /** True: a file is missing, or the files together are too large. */
  readonly isCut: boolean
}

const isNamed = ({ uid, name }: ChangedObject, object: string): boolean =>
  object === '' || uid === object || name === object

const weightOf = ({ files }: Pick<ReadCommit, 'files'>): number => 1 + files.length

/** Shows a tenant its own objects only. A subject that may speak of others' objects is hidden. */
function visible(commit: HistoryCommit, tenant: string | null): HistoryCommit {
  if (tenant === null) return commit
  const objects = commit.objects.filter((one) => isVisible(one, tenant))
  const isMore = commit.isMore || objects.length < commit.objects.length
  return { ...commit, objects, isMore, subject: isMore ? '' : commit.subject }
}

function isVisible({ kind, tenant }: ChangedObject, viewer: string | null): boolean {
  if (viewer === null) return true
  // The Tenant object belongs to the operator, though its file lies in the tenant's folder.
  return tenant === viewer && kind !== 'Tenant'
}
