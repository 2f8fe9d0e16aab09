// Turns a request into an operation on the configuration, and its result into a response.
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
import { actorOf, sees, seesFile, visibleTenant, whoFields } from '#access/caller.ts'
import type { Caller, Viewer } from '#access/caller.ts'
import {
  effectHeader,
  effectWanted,
  isEffectWanted,
  overrideHeader,
  reasonIn,
  reasonWanted,
  subjectHeader,
  subjectIn,
  subjectWanted,
} from '#http/write-headers.ts'
import { later, noContent, refused } from '#http/reply.ts'
import { sentenceList } from '#http/sentence-list.ts'
import type { Reply } from '#http/reply.ts'
import type { RouteContext } from '#api/route/route.ts'

export interface Written {
  /** Headers of the response: the revision, and the entity tag of the object. */
  readonly headers: Readonly<Record<string, string>>
  /** The object of the last operation, which was no deletion. */
  readonly entry: ConfigEntry
  /** Id of the part in the last operation; '' for a whole object. */
  readonly partId: string
}

type Context = Pick<
  RouteContext<'configWriter' | 'log'>,
  'caller' | 'requestId' | 'isDryRun' | 'ports'
> & {
  /** Left out: the node itself writes, not a client. */
  readonly request?: RouteContext['request']
}

/** Makes operations of which the last one leaves an object. Errors: the response. */
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
    ...outcomeHeaders(done.value, context.caller, operations),
    etag: tagged(part ?? entry.object),
  }
  return ok({ headers, entry, partId: (part?.['uid'] ?? '') as string })
}

/** Makes operations of which the last one deletes. */
export async function remove(
  context: Context,
  ...operations: readonly Operation[]
): Promise<Reply> {
  const done = await submit(context, operations, {}, 409)
  return done.ok ? noContent(outcomeHeaders(done.value, context.caller, operations)) : done.error
}

/** Headers that describe a write beside its object. */
function outcomeHeaders(
  { revision, warnings, affected, effect }: WriteSuccess,
  caller: Caller,
  operations: readonly Operation[],
): Readonly<Record<string, string>> {
  const own = operations.flatMap((one) => ('warning' in one ? [one.warning] : []))
  const found = visible(warnings, caller).map(({ message: text, code }) => ({ text, code }))
  const seen = [...own, ...found]
  return {
    [revisionHeader]: revision,
    ...(seen.length === 0 ? {} : { 'x-gslb-warnings': sentenceList(seen) }),
    ...(affected.length === 0
      ? {}
      : { 'x-gslb-affected': sentenceList(affected.map((text) => ({ text }))) }),
    ...(effect === undefined ? {} : { 'x-gslb-effect': effect }),
  }
}

/** Says which part of a request a file comes from; empty: of none that is known. */
export type NameOfFile = (file: string) => string

/**
 * Makes operations of any kind. Errors: the response.
 *
 * @param nameOf stands before what is wrong, in a request of many objects
 */
export async function writeAll(
  context: Context,
  operations: readonly Operation[],
  more: Pick<WriteRequest, 'reverts' | 'hasMany'>,
  nameOf?: NameOfFile,
): Promise<Result<Pick<Written, 'headers'> & { readonly revision: string }, Reply>> {
  const done = await submit(context, operations, more, 400, nameOf)
  if (!done.ok) return done
  return ok({
    revision: done.value.revision,
    headers: outcomeHeaders(done.value, context.caller, operations),
  })
}

const revisionHeader = 'x-gslb-revision'

async function submit(
  context: Context,
  operations: readonly Operation[],
  more: Pick<WriteRequest, 'reverts' | 'hasMany'> = {},
  invalid: InvalidStatus = 400,
  nameOf?: NameOfFile,
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
  // The response refers the caller to the operator, who finds the reason in the log.
  if (isForOperator(code)) {
    const fields = { requestId, ...whoFields(caller), code, reason: message }
    ports.log.error(fields, writeFailed)
  }
  return err(refusalOf(done.error, caller, requestId, invalid, nameOf))
}

const writeFailed = 'a change over the API was not carried out'

/** Reads the headers of a request that concern its write. */
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

/**
 * The reason of an override. Guardrails protect all, so only system administrators may override.
 */
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

/** The subject of the commit, in the caller's words. */
export function subjectOf(given: string | undefined): Result<{ readonly subject?: string }, Reply> {
  if (given === undefined) return ok({})
  const subject = subjectIn(given)
  return subject === undefined ? err(refused(400, subjectWanted)) : ok({ subject })
}

/** The header with the entity tag of a representation. */
export function tagged(value: object): string {
  return `"${etagOf(value)}"`
}

/** Names the caller without an e-mail address, since the history keeps it for ever. */
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

/** The reason contains paths, hosts or keys, and is for the log. */
const isForOperator = (code: WriteFailureCode): boolean =>
  statusOf[code] === 500 || code === 'not-trusted'

const sentencesMax = 5

/** A deletion sends nothing invalid: its errors come from objects that use what is deleted. */
type InvalidStatus = 400 | 409

export function refusalOf(
  failure: WriteFailure,
  caller: Viewer,
  requestId: string,
  invalid: InvalidStatus = 400,
  nameOf: NameOfFile = () => '',
): Reply {
  const { code, message, diagnostics } = failure
  const status = statusOf[code]
  const sentenceAt = (one: WriteDiagnostic): string => {
    const name = one.other === undefined ? nameOf(one.file) : ''
    return `${name === '' ? '' : `${name}: `}${sentenceOf(one)}`
  }
  if (code === 'invalid' && diagnostics.length > 0) {
    const shown = diagnosticsFor(diagnostics, caller)
    const sentences = [...shown.map(sentenceAt), ...testsFor(diagnostics, caller, shown)]
    const said = sentences.slice(0, sentencesMax).join(' ')
    return refused(invalid, said === '' ? message : said)
  }
  const conflict = diagnostics.find((one) => code === 'conflict' && isTaken(one.code))
  if (conflict !== undefined) return refused(status, sentenceAt({ ...conflict, help: '' }))
  if (code === 'head-invalid') {
    const said = caller.isSystemAdmin ? message : heldForOthers
    return refused(status, said, { diagnostics: visible(diagnostics, caller) })
  }
  if (isForOperator(code) && !caller.isSystemAdmin) return failedForOthers(code, requestId)
  const said = code === 'guarded' ? guardedFor(caller, failure) : message
  return status === 503 ? later(503, said, 1) : refused(status, said)
}

const affectedMax = 5

/** Includes what the caller's own tenant would lose. */
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

/** Without numbers of other tenants. Callers who may override are told of the header. */
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

/** Limits that judge each request by itself. */
const isAlone: Readonly<Partial<Record<GuardrailName, true>>> = {
  movedClients: true,
  lostAnswers: true,
  replacedServers: true,
}

/** Descriptions without a number of other tenants. */
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

/** For callers who may not see the reason, and cannot mend it. */
const heldForOthers =
  'The newest commit of the configuration is held, so that nothing can be changed until it is ' +
  'mended; what was accepted before goes on serving. Tell an administrator of the repository: ' +
  'GET /api/v1/gitops/status has the reason.'

/** Without the reason, which has paths, hosts, keys or commands; the log has it. */
function failedForOthers(code: WriteFailureCode, requestId: string): Reply {
  const isSure = code === 'not-trusted' || code === 'unreachable'
  const outcome = isSure
    ? 'The change cannot be written at the moment, and nothing was changed.'
    : 'It is not known whether the change was made: look before you try again.'
  const whom = 'Tell an administrator of the system, who finds the reason in the log by request'
  return refused(statusOf[code], `${outcome} ${whom} ${requestId}.`)
}

/** Hides what files of other tenants contain. */
export function visible(list: readonly WriteDiagnostic[], caller: Viewer): WriteDiagnostic[] {
  return list.filter(({ file }) => seesFile(caller, file))
}

/**
 * Diagnostics for a tenant. gslb.yaml belongs to no tenant, and was valid before: the tenant is
 * told what its own change would break there, but not where.
 */
function diagnosticsFor(list: readonly WriteDiagnostic[], caller: Viewer): WriteDiagnostic[] {
  const shown = new Set(visible(list, caller))
  return list
    .filter(
      (one) => shown.has(one) || (one.other !== undefined && one.file === kinds.Settings.path),
    )
    .map((one) => (shown.has(one) ? one : { ...one, file: '' }))
}

/** What a tenant may read of policy tests that it may not see: what they say of its own names. */
function testsFor(
  all: readonly WriteDiagnostic[],
  caller: Viewer,
  shown: readonly WriteDiagnostic[],
): string[] {
  const hidden = all.flatMap((one) =>
    shown.includes(one) || one.own === undefined ? [] : [one.own],
  )
  const own = hidden.filter(({ tenant }) => sees(caller, tenant)).map(({ message }) => message)
  const said = own.slice(0, sentencesMax - 1).map((message) => `${startOf(message)}.`)
  return said.length === 0 ? [] : [...said, testAdvice]
}

const startOf = (message: string): string => message.slice(0, 1).toUpperCase() + message.slice(1)
const testAdvice = 'If the change is meant, ask a system administrator to change the test first.'

/** Formats `ipAddress: "300.1.1.1" is not an IP address; write …`. */
function sentenceOf({ code, field, message, help, file, line, other }: WriteDiagnostic): string {
  const said = `${message}${help === '' ? '' : `; ${help}`}`
  if (other !== undefined) {
    const where = file === '' ? '' : ` (${file}, line ${line})`
    return `${other}${where} would no longer be right: ${said}. See: GET /api/v1/explain/${code}.`
  }
  const name = apiFieldOf(field)
  const own = `${field.split('.').at(-1) ?? ''} `
  // A message such as `port must be …` names its field already.
  const reason = name !== '' && said.startsWith(own) ? said.slice(own.length) : said
  // A message that ends in a name with its final dot is left as it is.
  return `${name === '' ? '' : `${name}: `}${reason}${said.endsWith('.') ? '' : '.'}`
}

/** Fields whose name in the file differs from that in the API. */
const renamed: Readonly<Record<string, string>> = { pool: 'poolId', resource: 'resourceId' }

const lists = partKinds.map((kind) => partSpecs[kind].list)
const inPart = new RegExp(`^(${lists.join('|')})\\.\\d+\\.`)

/** Maps `spec.members.0.port` to `port`, as in the body of a member. */
function apiFieldOf(field: string): string {
  const inside = field
    .replace(/^(spec|metadata)\.?/, '')
    .replace(inPart, '')
    .replace(/^healthCheck\.?/, '')
  return renamed[inside] ?? inside
}
