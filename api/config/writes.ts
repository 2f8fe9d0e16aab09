// Turns a request into an operation on the configuration, and its outcome into a reply.
import { etagOf } from '#config/entry.ts'
import type { ConfigEntry } from '#config/entry.ts'
import { isTaken } from '#config/fault.ts'
import { partKinds, partSpecs } from '#config/parts.ts'
import type {
  Actor,
  GuardrailName,
  Operation,
  WriteDiagnostic,
  WriteFailure,
  WriteFailureCode,
  WriteRequest,
  WriteSuccess,
} from '#config/operation.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { kinds } from '#schemas/kinds.ts'
import { actorOf, sees, visibleTenant, whoFields } from '#access/caller.ts'
import type { Caller, Viewer } from '#access/caller.ts'
import { overrideHeader, reasonIn, reasonWanted } from '#http/override.ts'
import {
  effectHeader,
  effectWanted,
  isEffectWanted,
  subjectHeader,
  subjectIn,
  subjectWanted,
} from '#http/write-headers.ts'
import { later, noContent, refused } from '#http/reply.ts'
import { sentenceList } from '#http/sentence-list.ts'
import type { Reply } from '#http/reply.ts'
import type { RouteContext } from '#api/route/route.ts'

export interface Written {
  /** For the answer: the revision, and the entity tag of what is there now. */
  readonly headers: Readonly<Record<string, string>>
  /** The object of the last operation, which was not a deletion. */
  readonly entry: ConfigEntry
  /** Id of the part that the last operation was about; '' when it was the whole object. */
  readonly partId: string
}

type Context = Pick<
  RouteContext<'configWriter' | 'log'>,
  'caller' | 'requestId' | 'isDryRun' | 'ports'
> & {
  /** Left out: no client asked for it. */
  readonly request?: RouteContext['request']
}

/** For operations of which the last one leaves something behind. Errors: the answer. */
export async function write(
  context: Context,
  ...operations: readonly Operation[]
): Promise<Result<Written, Reply>> {
  const done = await submit(context, operations)
  if (!done.ok) return done
  const { objects } = done.value
  const last = objects.at(-1) ?? null
  if (last === null) throw new Error('a write that deletes goes through `remove`')
  const { entry, part } = last
  const headers = {
    ...outcomeHeaders(done.value, context.caller),
    etag: tagged(part ?? entry.object),
  }
  return ok({ headers, entry, partId: (part?.['uid'] ?? '') as string })
}

/** For operations of which the last one deletes. */
export async function remove(
  context: Context,
  ...operations: readonly Operation[]
): Promise<Reply> {
  const done = await submit(context, operations, {}, 409)
  return done.ok ? noContent(outcomeHeaders(done.value, context.caller)) : done.error
}

/** What a write is told besides its object. */
function outcomeHeaders(
  { revision, warnings, affected, effect }: WriteSuccess,
  caller: Caller,
): Readonly<Record<string, string>> {
  const seen = seenWarnings(warnings, caller).map(({ message: text, code }) => ({ text, code }))
  return {
    [revisionHeader]: revision,
    ...(seen.length === 0 ? {} : { 'x-gslb-warnings': sentenceList(seen) }),
    ...(affected.length === 0
      ? {}
      : { 'x-gslb-affected': sentenceList(affected.map((text) => ({ text }))) }),
    ...(effect === undefined ? {} : { 'x-gslb-effect': effect }),
  }
}

/** For operations of any kind. Errors: the answer. */
export async function writeAll(
  context: Context,
  operations: readonly Operation[],
  more: Pick<WriteRequest, 'reverts'>,
): Promise<Result<Pick<Written, 'headers'> & { readonly revision: string }, Reply>> {
  const done = await submit(context, operations, more)
  if (!done.ok) return done
  return ok({ revision: done.value.revision, headers: outcomeHeaders(done.value, context.caller) })
}

const revisionHeader = 'x-gslb-revision'

async function submit(
  context: Context,
  operations: readonly Operation[],
  more: Pick<WriteRequest, 'reverts'> = {},
  invalid: InvalidStatus = 400,
): Promise<Result<WriteSuccess, Reply>> {
  const { caller, requestId, isDryRun, ports } = context
  const actor = commitActor(caller)
  const said = saidIn(context)
  if (!said.ok) return said
  const done = await ports.configWriter.write({
    requestId,
    actor,
    operations,
    ...more,
    ...said.value,
    ...(caller.isSystemAdmin ? { mayTakeAnyName: true } : {}),
    ...(isDryRun ? { isDryRun } : {}),
  })
  if (done.ok) return done
  const { code, message } = done.error
  // The answer sends the caller to the operator, who finds the reason in the log.
  if (isForOperator(code)) {
    const fields = { requestId, ...whoFields(caller), code, reason: message }
    ports.log.error(fields, writeFailed)
  }
  return err(refusalOf(done.error, caller, requestId, invalid))
}

const writeFailed = 'a change over the API was not carried out'

/** What the headers say of a write. */
export function saidIn({
  caller,
  request,
}: Pick<Context, 'caller' | 'request'>): Result<
  Pick<WriteRequest, 'override' | 'subject' | 'effectFor'>,
  Reply
> {
  const override = overrideOf(caller, request?.header(overrideHeader))
  if (!override.ok) return override
  const subject = subjectOf(request?.header(subjectHeader))
  if (!subject.ok) return subject
  const said = { ...override.value, ...subject.value }
  const isWanted = isEffectWanted(request?.header(effectHeader))
  if (isWanted === undefined) return err(refused(400, effectWanted))
  return ok(isWanted ? { ...said, effectFor: { tenant: visibleTenant(caller) } } : said)
}

/** Why names may go that the guardrails keep. They are of the whole, and so is who may say it. */
function overrideOf(
  { isSystemAdmin }: Caller,
  given: string | undefined,
): Result<{ readonly override?: string }, Reply> {
  if (given === undefined) return ok({})
  const override = reasonIn(given)
  if (override === undefined) return err(refused(400, reasonWanted))
  if (isSystemAdmin) return ok({ override })
  return err(refused(403, 'the header X-Gslb-Override is for system administrators: leave it out'))
}

/** The subject of the commit, as the caller words it. */
export function subjectOf(given: string | undefined): Result<{ readonly subject?: string }, Reply> {
  if (given === undefined) return ok({})
  const subject = subjectIn(given)
  return subject === undefined ? err(refused(400, subjectWanted)) : ok({ subject })
}

/** The header field of a representation. */
export function tagged(value: object): string {
  return `"${etagOf(value)}"`
}

/** The name that a person chose, and no address of theirs: it stays in the history for ever. */
export function commitActor(caller: Caller): Actor {
  const name = actorOf(caller)
  const { displayName = '', email = '' } = caller
  return { name, displayName, email, address: `${name.replaceAll(':', '-')}@users.gslbd` }
}

const statusOf: Readonly<Record<WriteFailureCode, number>> = {
  'not-found': 404,
  forbidden: 403,
  conflict: 409,
  'precondition-failed': 412,
  'too-many': 403,
  guarded: 409,
  invalid: 400,
  'head-invalid': 409,
  'not-trusted': 409,
  unreachable: 500,
  busy: 503,
  contended: 503,
  uncertain: 500,
  unavailable: 503,
  internal: 500,
}

/** The reason tells of paths, hosts and keys, and is in the log. */
const isForOperator = (code: WriteFailureCode): boolean =>
  statusOf[code] === 500 || code === 'not-trusted'

const sentencesMax = 5

/** A deletion sends nothing that could be wrong: what it would break uses what is to go. */
type InvalidStatus = 400 | 409

export function refusalOf(
  failure: WriteFailure,
  caller: Viewer,
  requestId: string,
  invalid: InvalidStatus = 400,
): Reply {
  const { code, message, diagnostics } = failure
  const status = statusOf[code]
  if (code === 'invalid' && diagnostics.length > 0) {
    const sentences = diagnosticsFor(diagnostics, caller).slice(0, sentencesMax).map(sentenceOf)
    return refused(invalid, sentences.length > 0 ? sentences.join(' ') : message)
  }
  const conflict = diagnostics.find((one) => code === 'conflict' && isTaken(one.code))
  if (conflict !== undefined) return refused(status, sentenceOf({ ...conflict, help: '' }))
  if (code === 'head-invalid') {
    const said = caller.isSystemAdmin ? message : heldForOthers
    return refused(status, said, { diagnostics: visible(diagnostics, caller) })
  }
  if (isForOperator(code) && !caller.isSystemAdmin) return failedForOthers(code, requestId)
  const said = code === 'guarded' ? guardedFor(caller, failure) : message
  return status === 503 ? later(503, said, 1) : refused(status, said)
}

const affectedMax = 5

/** With what would go besides, which is its tenant's own. */
function guardedFor(
  caller: Viewer,
  { message, affected = [], guardrail = 'removedNames', own }: WriteFailure,
): string {
  const seen = own !== undefined && sees(caller, own.tenant) ? own.message : undefined
  const why = caller.isSystemAdmin ? message : guardedForOthers(guardrail, seen)
  if (affected.length === 0) return why
  const more = affected.length - affectedMax
  const listed = affected.slice(0, affectedMax).join(', ') + (more > 0 ? `, and ${more} more` : '')
  return `${why} What it would take with it: ${listed}.`
}

/** How many names others have is not for everybody; who may override is told of the header. */
function guardedForOthers(guardrail: GuardrailName, own: string | undefined): string {
  if (guardrail === 'lostAnswers' && own !== undefined) {
    return `${own} If that is meant, delete the service, or ask a system administrator.`
  }
  const alone = isAlone[guardrail] === true
  const advice = `${alone ? 'Take smaller steps' : 'Wait'}, or ask a system administrator.`
  if (own !== undefined) return `${own} ${advice}`
  const limit = `the guardrails of the configuration permit (guardrails.${guardrail})`
  const what = `${tooMuchOf[guardrail]} than ${limit}`
  return `${what}${alone ? '' : '; recent changes of others count as well'}. ${advice}`
}

/** Judged of each request by itself. */
const isAlone: Readonly<Partial<Record<GuardrailName, true>>> = {
  movedClients: true,
  lostAnswers: true,
  replacedServers: true,
}

/** Without a number of what others have. */
const tooMuchOf: Readonly<Record<GuardrailName, string>> = {
  removedNames: 'This would remove more names within 10 minutes',
  movedClients: 'This would send more clients of a name elsewhere',
  removedMembers: 'This would take away more members of a pool within 10 minutes',
  lostRedundancy: 'This would leave more pools with fewer than two members within 10 minutes',
  ttlJump: 'This would make the TTLs of several names longer, by more',
  changedNames: 'This would change more names within 10 minutes',
  lostAnswers: 'This would leave more names without an answer that they could give',
  replacedServers: 'This would replace more name servers of a zone',
}

/** For callers who may not see the reason: they cannot mend it, either. */
const heldForOthers =
  'The newest commit of the configuration is held, so that nothing can be changed until it is ' +
  'mended; what was accepted before goes on serving. Tell an administrator of the repository: ' +
  'GET /api/v1/gitops/status has the reason.'

/** The reason speaks of paths, hosts, keys and commands of the operator, who has it in the log. */
function failedForOthers(code: WriteFailureCode, requestId: string): Reply {
  const isSure = code === 'not-trusted' || code === 'unreachable'
  const outcome = isSure
    ? 'The change cannot be written at the moment, and nothing was changed.'
    : 'It is not known whether the change was made: look before you try again.'
  const whom = 'Tell an administrator of the system, who finds the reason in the log by request'
  return refused(statusOf[code], `${outcome} ${whom} ${requestId}.`)
}

export function seenWarnings(
  warnings: readonly WriteDiagnostic[],
  caller: Caller,
): readonly WriteDiagnostic[] {
  return visible(warnings, caller)
}

/** What stands in the files of other tenants is not for everybody's eyes. */
function visible(list: readonly WriteDiagnostic[], caller: Viewer): WriteDiagnostic[] {
  const own = `tenants/${caller.tenant}/`
  return list.filter(({ file }) => caller.isSystemAdmin || file.startsWith(own))
}

/**
 * The settings are nobody's, and nothing was wrong with them before: a tenant is told what its own
 * change would break there, but not where.
 */
function diagnosticsFor(list: readonly WriteDiagnostic[], caller: Viewer): WriteDiagnostic[] {
  const shown = new Set(visible(list, caller))
  return list
    .filter(
      (one) => shown.has(one) || (one.other !== undefined && one.file === kinds.Settings.path),
    )
    .map((one) => (shown.has(one) ? one : { ...one, file: '' }))
}

/** `ipAddress: "300.1.1.1" is not an IP address; write …` */
function sentenceOf({ code, field, message, help, file, line, other }: WriteDiagnostic): string {
  const said = `${message}${help === '' ? '' : `; ${help}`}`
  if (other !== undefined) {
    const where = file === '' ? '' : ` (${file}, line ${line})`
    return `${other}${where} would no longer be right: ${said}. See: gslbd explain ${code}.`
  }
  const name = apiFieldOf(field)
  const own = `${field.split('.').at(-1) ?? ''} `
  // `port must be …` has the name already.
  const reason = name !== '' && said.startsWith(own) ? said.slice(own.length) : said
  // A name that ends in its dot is copied as it stands.
  return `${name === '' ? '' : `${name}: `}${reason}${said.endsWith('.') ? '' : '.'}`
}

/** Where the file calls something else than the API does. */
const renamed: Readonly<Record<string, string>> = { pool: 'poolId', resource: 'resourceId' }

const lists = partKinds.map((kind) => partSpecs[kind].list)
const inPart = new RegExp(`^(${lists.join('|')})\\.\\d+\\.`)

/** `spec.members.0.port` is `port` in the body of a member. */
export function apiFieldOf(field: string): string {
  const inside = field
    .replace(/^(spec|metadata)\.?/, '')
    .replace(inPart, '')
    .replace(/^healthCheck\.?/, '')
  return renamed[inside] ?? inside
}
