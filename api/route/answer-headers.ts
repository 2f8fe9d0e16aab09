// Lists the response headers of each route for the OpenAPI document.
import type { Route, RouteResponse } from './route.ts'

type Json = Readonly<Record<string, unknown>>

export const entityTag = Object.freeze({ type: 'string', examples: ['"3f2a"'] })

const text = Object.freeze({ type: 'string' })
const seconds = Object.freeze({ type: 'integer', minimum: 0 })

const warningList = Object.freeze({
  type: 'string',
  examples: ['1, "a.example.com. is an alias of b.example.com.";code=alias-target-missing'],
})
const affectedList = Object.freeze({
  type: 'string',
  examples: ['2, "service \\"www\\" is left without a pool", "3 members go"'],
})

const fields = {
  ETag: { description: 'For `If-Match`', schema: entityTag },
  'X-Gslb-Revision': { description: 'The commit that the answer is of', schema: text },
  'X-Gslb-Warnings': {
    description:
      'Where the change causes warnings that were not there before: how many, then the first ' +
      'three as strings with their `code` (a list of RFC 8941)',
    schema: warningList,
  },
  'X-Gslb-Affected': {
    description:
      'Where something else goes or loses something with what is deleted, or a service loses its ' +
      'pool: how much, then the first three as strings (a list of RFC 8941); of a dry run, what ' +
      'would',
    schema: affectedList,
  },
  'X-Gslb-Effect': {
    description:
      'The largest part of the clients of a name that moves, how many names answer ' +
      'differently (`names`, of them `added` and `removed`), and how many changes may show ' +
      '`later`. ' +
      'Of a dry run, and of a write that asks for it. ' +
      '`moved=unknown`: it could not be planned in time, so that `guardrails.movedClients` has ' +
      'not judged it, and a dry run is without the header then. ' +
      '`back`: the commit to which it goes back, so that `guardrails.movedClients` is not ' +
      'applied. ' +
      '`together`: so many changes are in the commit; then figures are of the names of the own ' +
      'tenant',
    schema: { type: 'string', examples: ['moved=12.4%; names=3; later=1'] },
  },
  'X-Gslb-Dry-Run': { description: '`true`: nothing was changed', schema: text },
  'X-Next-Cursor': {
    description: 'The `cursor` of the next page; absent on the last one, and without `limit`',
    schema: text,
  },
  'Set-Cookie': { description: 'The session, or its end', schema: text },
  Location: { description: 'Where to go on', schema: text },
  'Retry-After': { description: 'Seconds after which to try again, where known', schema: seconds },
} as const

/** Describes the headers of a response that is no refusal. */
export function answerHeaders(row: Route, status: number, response: RouteResponse): Json {
  const { isTagged, setsCookie, hasRevision } = response
  // A revert may change anything, so its response has no entity tag.
  const isRevert = hasRevision === true && row.takesDryRun === true
  return shown({
    ETag: isTagged === true,
    'X-Gslb-Revision': hasRevision === true || isConfigWrite(row),
    'X-Gslb-Warnings': isConfigWrite(row) || isRevert,
    'X-Gslb-Affected':
      isRevert || (isConfigWrite(row) && (row.method === 'DELETE' || mayLosePool(row))),
    'X-Gslb-Effect': takesDryRun(row),
    'X-Gslb-Dry-Run': takesDryRun(row),
    'X-Next-Cursor': isPaged(row),
    'Set-Cookie': setsCookie === true,
    Location: status === 302,
  })
}

export function refusalHeaders(status: number): Json {
  return shown({ 'Retry-After': status === 429 || status === 503 })
}

function shown(has: Readonly<Partial<Record<keyof typeof fields, boolean>>>): Json {
  const found = Object.entries(fields).filter(([name]) => has[name as keyof typeof fields])
  return found.length === 0 ? {} : { headers: Object.fromEntries(found) }
}

/**
 * Whether it writes the configuration: what it changes has an entity tag. A reporting node gets the
 * tag of what it reads.
 */
export function isConfigWrite({ method, ifMatch, responses, fromNodes }: Route): boolean {
  if (method === 'GET' || fromNodes === true) return false
  return ifMatch !== undefined || Object.values(responses).some(({ isTagged }) => isTagged)
}

const mayLosePool = ({ path, ifMatch }: Route): boolean =>
  path === '/api/v1/services/{id}' && ifMatch !== undefined

/** Whether it writes to Git; other routes answer the unknown parameter with 400. */
export function takesDryRun(row: Route): boolean {
  return row.takesDryRun === true || isConfigWrite(row)
}

function isPaged({ query }: Route): boolean {
  return 'cursor' in ((query as { readonly properties?: object } | undefined)?.properties ?? {})
}
