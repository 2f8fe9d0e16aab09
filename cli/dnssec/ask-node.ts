// Asks a control node over its API to do something with the keys of a zone, and says what follows.
import { plain } from '#cli/terminal/paint.ts'
import type { NodeApi } from '#cli/watch/node-api.ts'
import { keyRoles } from '#dns/dnssec/key-record.ts'
import { fieldsOf, rowsOf } from '#lib/text/json.ts'
import { CommandFault, Exit, UsageError } from '#system/process/command.ts'

/** A store may be another machine, and a parent may be asked meanwhile. */
const patienceMs = 60_000

/**
 * Begins a roll.
 *
 * @param role undefined: all keys
 *
 * @returns text for a terminal
 */
export async function askForRoll(
  api: NodeApi,
  zone: string,
  { role, isEmergency }: { readonly role: string | undefined; readonly isEmergency: boolean },
): Promise<string> {
  const which = role ?? 'all'
  if (role !== undefined && !(keyRoles as readonly string[]).includes(role)) {
    throw new UsageError(`--key is ${keyRoles.join(', ')}, not "${role}"`)
  }
  const waits = await waitsAfter(api, zone, 'roll', { which, emergency: isEmergency })
  return `${zone}: the roll has begun, and goes on by itself.\n${waits}`
}

/** Says that the parent has the DS of a key. @returns text for a terminal */
export async function tellOfDs(api: NodeApi, zone: string, tag: string): Promise<string> {
  if (!/^\d{1,5}$/.test(tag) || Number(tag) > tagMax) {
    throw new UsageError(`"${plain(tag)}" is no key tag: "gslbd dnssec status" has the tags`)
  }
  const waits = await waitsAfter(api, zone, 'ds-seen', { tag: Number(tag) })
  return `${zone}: the parent has the DS record of key ${tag}.\n${waits}`
}

/** RFC 4034 section 5.1.1. */
const tagMax = 65_535

/**
 * @returns a line for each step of the zone that waits
 *
 * @throws CommandFault
 */
async function waitsAfter(api: NodeApi, zone: string, verb: string, body: object): Promise<string> {
  const path = `/api/v1/dnssec/zones/${encodeURIComponent(zone)}/${verb}`
  const answer = await api.post(path, { body, patienceMs })
  if (!answer.ok) {
    const { status, message } = answer.error
    // The message of the API says nothing of what to do.
    const absent = `${zone} is not signed there: "gslbd dnssec status" has the zones`
    throw new CommandFault(Exit.ErrorsFound, status === 404 ? absent : message)
  }
  const messages = rowsOf(fieldsOf(answer.value)['waiting']).map(({ message }) => message)
  return messages.map((one) => (typeof one === 'string' ? `  ${plain(one)}\n` : '')).join('')
}
