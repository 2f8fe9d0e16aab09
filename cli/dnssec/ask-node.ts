// Asks a control node over its API to do something with the keys of a zone, and says what follows.
import { plain } from '#cli/terminal/paint.ts'
import type { ApiFault, NodeApi } from '#cli/watch/node-api.ts'
import { keyRoles } from '#dns/dnssec/key-record.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { fieldsOf } from '#lib/text/json.ts'
import { UsageError } from '#system/process/command.ts'

/** A store may be another machine, and a parent may be asked meanwhile. */
const patienceMs = 60_000

/**
 * Begins a roll.
 *
 * @param role undefined: all keys
 * @returns text for a terminal. Errors: a sentence
 */
export async function askForRoll(
  api: NodeApi,
  zone: string,
  { role, isEmergency }: { readonly role: string | undefined; readonly isEmergency: boolean },
): Promise<Result<string, string>> {
  const which = role ?? 'all'
  if (role !== undefined && !(keyRoles as readonly string[]).includes(role)) {
    throw new UsageError(`--key is ${keyRoles.join(', ')}, not "${role}"`)
  }
  const asked = { body: { which, emergency: isEmergency }, patienceMs }
  const told = await api.post(`${pathOf(zone)}/roll`, asked)
  if (!told.ok) return err(refusedFor(zone, told.error))
  return ok(`${zone}: the roll has begun, and goes on by itself.\n${waitsIn(told.value)}`)
}

/**
 * Says that the parent has the DS of a key.
 *
 * @returns text for a terminal. Errors: a sentence
 */
export async function tellOfDs(
  api: NodeApi,
  zone: string,
  tag: string,
): Promise<Result<string, string>> {
  if (!/^\d{1,5}$/.test(tag) || Number(tag) > tagMax) {
    throw new UsageError(`"${plain(tag)}" is no key tag: "gslbd dnssec status" has the tags`)
  }
  const told = await api.post(`${pathOf(zone)}/ds-seen`, { body: { tag: Number(tag) }, patienceMs })
  if (!told.ok) return err(refusedFor(zone, told.error))
  return ok(`${zone}: the parent has the DS record of key ${tag}.\n${waitsIn(told.value)}`)
}

/** RFC 4034 section 5.1.1. */
const tagMax = 65_535

/** The status of a zone that is not there says nothing of what to do. */
const refusedFor = (zone: string, { status, message }: ApiFault): string =>
  status === 404 ? `${zone} is not signed there: "gslbd dnssec status" has the zones` : message

const pathOf = (zone: string): string => `/api/v1/dnssec/zones/${encodeURIComponent(zone)}`

/** A line for each step that waits. */
function waitsIn(shown: unknown): string {
  const { waiting } = fieldsOf(shown)
  const messages = (Array.isArray(waiting) ? waiting : []).map((one) => fieldsOf(one)['message'])
  return messages.map((one) => (typeof one === 'string' ? `  ${plain(one)}\n` : '')).join('')
}
