// Selects the requests of one commit. A request that fails does not fail the others.
import { diagnosticSpecs } from '#diagnostics/diagnostics.ts'
import type { DiagnosticCode } from '#diagnostics/diagnostics.ts'
import { readyForScripts } from '#compiler/scripts/script-syntax.ts'
import { checkName } from '#compiler/values/names.ts'
import { assert } from '#lib/assert.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { kindNames } from '#schemas/kinds.ts'
import type { HeadDiagnostic } from '#gitops/status/status.ts'
import { affectedBy } from '#config/change/affected.ts'
import { applyOperation } from '#config/change/apply.ts'
import { localMember } from '#config/change/local-members.ts'
import { takeNames } from '#config/change/names.ts'
import { Draft } from '#config/draft.ts'
import { faultOf, isTaken } from '#config/fault.ts'
import { nameHolding } from '#config/name-holder.ts'
import type { NameSource } from '#config/name-holder.ts'
import type { NameIndex } from '#config/name-index.ts'
import type { ConfigSnapshot } from '#config/object-index.ts'
import { beforeRequest, guardFailure } from '#judge/requests/request-guardrails.ts'
import type { GuardMemory } from '#judge/requests/request-guardrails.ts'
import { prepareCommit } from './prepare.ts'
import type { Prepared, PrepareParts } from './prepare.ts'
import type {
  WriteDiagnostic,
  WriteFailure,
  WriteRequest,
  CommitResult,
  WrittenObject,
} from '#config/operation.ts'

/** A request, and the promise that waits for it. */
export interface Asked {
  readonly request: WriteRequest
  readonly settle: (result: CommitResult) => void
}

export interface Pending extends Asked {
  /** When it arrived, by the monotonic clock. */
  readonly sinceMs: number
}

export interface Selection {
  readonly done: readonly Done[]
  readonly failed: readonly { readonly pending: Pending; readonly failure: WriteFailure }[]
  /** The prepared commit; null: there is nothing to write. */
  readonly prepared: Prepared | null
}

export interface Done {
  readonly pending: Pending
  readonly isChanged: boolean
  readonly objects: readonly (WrittenObject | null)[]
  readonly affected: readonly string[]
  readonly warnings: readonly WriteDiagnostic[]
}

/** Selects requests. Errors: a sentence, when the repository cannot be read. */
export async function selectRequests(
  parts: PrepareParts,
  batch: readonly Pending[],
  atSeconds: number,
): Promise<Result<Selection, string>> {
  await readyForScripts(batch.map(({ request }) => ({ bytes: textOf(request.operations) })))
  const selector = new Selector(parts, atSeconds)
  const problem = await selector.solve([], batch)
  return problem === undefined ? { ok: true, value: selector.selection() } : err(problem)
}

interface Attempt {
  readonly done: readonly (Omit<Done, 'warnings'> & { readonly touched: ReadonlySet<string> })[]
  readonly failed: Selection['failed']
}

/** The text of its scripts, as it will be in a file. */
const textOf = (operations: WriteRequest['operations']): Uint8Array =>
  Buffer.from(JSON.stringify(operations))

class Selector {
  readonly #parts: PrepareParts
  readonly #atSeconds: number
  #best: Attempt = { done: [], failed: [] }
  #prepared: Prepared | null = null
  readonly #refused: { pending: Pending; failure: WriteFailure }[] = []

  constructor(parts: PrepareParts, atSeconds: number) {
    this.#parts = parts
    this.#atSeconds = atSeconds
  }

  selection(): Selection {
    const { done: all, failed } = this.#best
    const news = this.#newWarnings()
    const isAlone = all.filter(({ isChanged }) => isChanged).length === 1
    const done = all.map(({ touched, ...one }): Done => {
      const own = news.filter(({ file }) => one.isChanged && (isAlone || touched.has(file)))
      return { ...one, warnings: own.map(ownDiagnostic) }
    })
    return { done, failed: [...failed, ...this.#refused], prepared: this.#prepared }
  }

  /** Warnings that the commit adds. They are compared without lines, which move. */
  #newWarnings(): readonly HeadDiagnostic[] {
    const keyOf = ({ code, file, message }: HeadDiagnostic): string => `${code} ${file} ${message}`
    const known = new Set(this.#parts.diagnostics.map(keyOf))
    const found = this.#prepared?.compiled.diagnostics ?? []
    return found.filter((one) => one.severity === 'warning' && !known.has(keyOf(one)))
  }

  /**
   * Adds to `good` as many of `candidates` as compile together. A set that does not compile is
   * halved: in the worst case two compilations for each request that fails.
   *
   * @returns a sentence when it cannot go on
   */
  async solve(
    good: readonly Pending[],
    candidates: readonly Pending[],
  ): Promise<string | undefined> {
    const draft = new Draft(draftParts(this.#parts))
    const attempt = this.#applyAll(draft, [...good, ...candidates])
    const changing = attempt.done.filter(({ isChanged }) => isChanged)
    const requests = changing.map(({ pending }) => pending.request)
    const prepared = await prepareCommit(this.#parts, draft, requests, this.#atSeconds)
    if (prepared.ok) {
      this.#best = attempt
      this.#prepared = prepared.value
      return undefined
    }
    if (typeof prepared.error === 'string') return prepared.error
    const { error } = prepared
    const [only] = candidates
    if (candidates.length === 1 && only !== undefined) {
      const touched = attempt.done.find(({ pending }) => pending === only)?.touched
      const failure =
        'thrown' in error
          ? this.#parts.onFault(error.thrown)
          : refusal(error.diagnostics, ownPaths(only, touched), draft, () => {
              const { before, now } = draft.changesOfRequest()
              const names = this.#parts.accepted.index.names().with([], now)
              const settings = draft.entries('Settings')[0]?.object ?? null
              const tenants = [...before, ...now].map(({ tenant }) => tenant)
              return { source: { names, settings }, tenants: new Set(tenants) }
            })
      this.#refused.push({ pending: only, failure })
      return undefined
    }
    const faulty = 'thrown' in error ? error.paths : pathsOf(error.diagnostics)
    const [first, second] = divided(candidates, attempt, faulty)
    const problem = await this.solve(good, first)
    if (problem !== undefined) return problem
    const refused = new Set(this.#refused.map(({ pending }) => pending))
    const kept = first.filter((pending) => !refused.has(pending))
    return this.solve([...good, ...kept], second)
  }

  /** An error here may come from another request that fails later: only the compilation decides. */
  #applyAll(draft: Draft, batch: readonly Pending[]): Attempt {
    const { accepted, parentDs } = this.#parts
    const { recent, names } = accepted
    const memory: BatchMemory = {
      recent: recent.fork(),
      names: names.fork(),
      parentDs,
      held: undefined,
    }
    const done: Attempt['done'][number][] = []
    const failed: Selection['failed'][number][] = []
    for (const pending of batch) {
      const mark = draft.begin()
      const applied = this.#apply(draft, pending, memory)
      if (!applied.ok) {
        draft.rollBack(mark)
        failed.push({ pending, failure: applied.error })
        continue
      }
      const touched = draft.touchedSince(mark)
      done.push({ pending, ...applied.value, touched, isChanged: touched.size > 0 })
    }
    return { done, failed }
  }

  /** A bug met by one request must not cost the others their answers. */
  #apply(draft: Draft, { request }: Pending, memory: BatchMemory): ReturnType<typeof applyRequest> {
    try {
      return applyRequest(draft, request, memory, this.#parts.accepted.index)
    } catch (thrown) {
      return err(this.#parts.onFault(thrown))
    }
  }
}

function draftParts({ accepted }: PrepareParts): ConstructorParameters<typeof Draft>[0] {
  return { base: accepted.index, rawOf: accepted.rawOf, paths: accepted }
}

interface BatchMemory extends GuardMemory {
  /** Names held by tenants, including earlier requests of the batch; undefined: as accepted. */
  held: NameIndex | undefined
}

function applyRequest(
  draft: Draft,
  request: WriteRequest,
  memory: BatchMemory,
  accepted: ConfigSnapshot,
): Result<Pick<Done, 'objects' | 'affected'>, WriteFailure> {
  const objects: (WrittenObject | null)[] = []
  const affected: string[] = []
  const guarded = beforeRequest(draft, request)
  for (const [at, operation] of request.operations.entries()) {
    affected.push(...affectedBy(draft, operation))
    const applied = applyOperation(draft, operation)
    if (!applied.ok) return err({ ...applied.error, operation: at })
    objects.push(applied.value)
  }
  const local = request.mayTakeAnyName === true ? undefined : localMember(draft)
  if (local !== undefined) return err({ ...local, operation: -1 })
  const heldBefore = (): NameIndex => memory.held ?? accepted.names()
  const held = takeNames(draft, heldBefore, request.mayTakeAnyName === true)
  if (!held.ok) return err({ ...held.error, operation: -1 })
  const failure = guardFailure(draft, request, guarded, objects, memory)
  if (failure !== undefined) {
    // That a name is taken says more than a limit on what would go with the old one.
    const { taken } = held.value
    return err(taken === undefined ? { ...failure, affected } : { ...taken, operation: -1 })
  }
  memory.held = held.value.index ?? memory.held
  return ok({ objects: objects.map((one) => one && asMarked(draft, one)), affected })
}

/** Taking a name may have marked the object. */
function asMarked(draft: Draft, written: WrittenObject): WrittenObject {
  const { kind, uid } = written.entry
  return { ...written, entry: draft.get(kind, uid) ?? written.entry }
}

/** Splits off the requests that touched a file with an error; halves, where that splits nothing. */
function divided(
  candidates: readonly Pending[],
  { done }: Attempt,
  faulty: ReadonlySet<string>,
): [readonly Pending[], readonly Pending[]] {
  const suspects = new Set(
    done.filter(({ touched }) => !touched.isDisjointFrom(faulty)).map(({ pending }) => pending),
  )
  const first = candidates.filter((pending) => !suspects.has(pending))
  if (first.length > 0 && first.length < candidates.length) {
    return [first, candidates.filter((pending) => suspects.has(pending))]
  }
  const half = candidates.length >> 1
  return [candidates.slice(0, half), candidates.slice(half)]
}

function pathsOf(diagnostics: readonly HeadDiagnostic[]): ReadonlySet<string> {
  return new Set(errorsIn(diagnostics).map(({ file }) => file))
}

/**
 * Files in which an error is about this request. A record set that is removed causes errors in
 * those that referred to it, mostly in its own file.
 */
function ownPaths(
  { request }: Pending,
  touched: ReadonlySet<string> = new Set(),
): ReadonlySet<string> {
  const isAboutOthers = request.operations.every(
    ({ verb, kind }) => verb === 'delete' && kind === 'RecordSet',
  )
  return isAboutOthers ? new Set() : touched
}

/** Formats the errors. The message names no file, which may be another tenant's. */
function refusal(
  diagnostics: readonly HeadDiagnostic[],
  ownFiles: ReadonlySet<string>,
  draft: Draft,
  reach: () => Reach,
): WriteFailure {
  const errors = errorsIn(diagnostics)
  assert(errors.length > 0, 'what does not compile has an error in its list')
  const own = errors.filter(({ file }) => ownFiles.has(file))
  if (own.length > 0) return { ...faultOf(own.map(ownDiagnostic)), operation: -1 }
  // When two objects claim the same name, the error stands in the later file, and is true of both.
  const conflict = errors.find(({ code }) => isTaken(code))
  if (conflict !== undefined) {
    const said = { ...ownDiagnostic(conflict), file: '', line: 0 }
    const { messageOfOther: message } = conflict
    // When the two objects play different parts, the field belongs to the other one.
    const shown = message === undefined ? said : { ...said, message, field: '' }
    return { ...faultOf([shown]), operation: -1 }
  }
  const codes = Array.from(new Set(errors.map(({ code }) => code)))
  const causes = codes.map((code) => diagnosticSpecs[code as DiagnosticCode].cause).join(' ')
  const message = `Another object would no longer be right. ${causes} ${explained(codes)}`
  const others = errors.map((error) => ({
    ...ownDiagnostic(error),
    other: objectAt(error.file, draft),
    ...messageForOwner(error, reach),
  }))
  return { code: 'invalid', message, operation: -1, diagnostics: others }
}

/** The tenants of what a request changed, and who has which name after it. */
interface Reach {
  readonly source: NameSource
  readonly tenants: ReadonlySet<string>
}

/** What a tenant reads of a policy test that it may not see, and that asks for its own name. */
function messageForOwner(
  { asked, messageOfOther: message }: HeadDiagnostic,
  reach: () => Reach,
): Pick<WriteDiagnostic, 'own'> {
  const name = asked === undefined ? undefined : checkName(asked, false).key
  if (name === undefined || message === undefined) return {}
  const { source, tenants } = reach()
  for (const tenant of tenants) {
    const holding = nameHolding(source, { tenant }, name)
    if (holding.is === 'own' && (holding.by === 'claim' || holding.by === 'domain'))
      return { own: { tenant, message } }
  }
  return {}
}

/** Where to read on: the cause, without the name of an object. */
function explained(codes: readonly string[]): string {
  return `See: ${codes.map((code) => `GET /api/v1/explain/${code}`).join(', ')}.`
}

/** Kind and name of the object at a path, for messages. */
function objectAt(path: string, draft: Draft): string {
  for (const kind of kindNames) {
    const entry = draft.entries(kind).find((one) => one.path === path)
    if (entry !== undefined) return `${kind} ${JSON.stringify(entry.name)}`
  }
  return 'another object'
}

function ownDiagnostic({ help, ...found }: HeadDiagnostic): WriteDiagnostic {
  const { code, message, field, file, line } = found
  return { code, message, help: help.replace(/; see also .*$/, ''), field, file, line }
}

function errorsIn(diagnostics: readonly HeadDiagnostic[]): readonly HeadDiagnostic[] {
  return diagnostics.filter(({ severity }) => severity === 'error')
}
