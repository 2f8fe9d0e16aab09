// Decides who may make the first account: this machine, the system key, or the code in the log.
import { randomBytes } from 'node:crypto'
import { bearerOf } from '#access/credentials.ts'
import { refused } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import { reboundHost } from '#http/origin.ts'
import type { RequestFacts } from '#http/request-facts.ts'
import { systemKey } from './policy.ts'
import type { AuthPolicy, SystemKey } from './policy.ts'

/** Crockford's base 32, without letters that are mistaken for others: 20 of them have 100 bits. */
const letters = '0123456789abcdefghjkmnpqrstvwxyz'
const groupCount = 4
const groupLength = 5

/** @returns four groups with hyphens between them */
export function newSetupCode(): string {
  const all = [...randomBytes(groupCount * groupLength)].map((byte) => letters[byte % 32])
  const groups = Array.from({ length: groupCount }, (_, i) =>
    all.slice(i * groupLength, (i + 1) * groupLength).join(''),
  )
  return groups.join('-')
}

/** Upper case, spaces, and missing hyphens make no difference. */
export function setupCodeOf(code: string): SystemKey {
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[\s-]/g, '')
  const key = systemKey(plain(code))
  return { matches: (presented) => key.matches(plain(presented)) }
}

/** Without a system key every caller may do everything, so no code is needed. */
export function needsSetupCode(request: RequestFacts, { systemKey: key }: AuthPolicy): boolean {
  if (key === null) return false
  const bearer = bearerOf(request.header('authorization'))
  return !request.isDirectFromHere() && !(bearer !== null && key.matches(bearer))
}

/** @returns a refusal; null: this request may make the first account */
export function setupRefusal(
  request: RequestFacts,
  auth: AuthPolicy,
  code: string | undefined,
): Reply | null {
  if (auth.systemKey === null) return request.isRebound() ? reboundHost : null
  if (!needsSetupCode(request, auth)) return null
  if (code !== undefined && auth.setupCode?.matches(code) === true) return null
  return code === undefined ? codeMissing : codeWrong
}

const ways =
  'send the code that the log of this node shows ("setupCode"), or the system key ' +
  '(GSLB_API_KEY) as a bearer token, or call from the machine itself, at 127.0.0.1 and past any ' +
  'proxy; "gslbd serve --create-admin" does it on a terminal'
const asked = { 'www-authenticate': 'Bearer' }
const codeMissing: Reply = {
  ...refused(401, `the first account takes more than this from another machine: ${ways}`),
  headers: asked,
}
const codeWrong: Reply = {
  ...refused(401, `setupCode: is not the code of this start; ${ways}`),
  headers: asked,
}
