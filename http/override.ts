// Defines the request header X-Gslb-Override: why a change beyond the guardrails is meant.
import { Type } from '#lib/schema/type.ts'

/** In lower case, as in requests. */
export const overrideHeader = 'x-gslb-override'
const lengthMax = 200

export const OverrideReason = Type.String({ minLength: 1, maxLength: lengthMax, pattern: '\\S' })

/** @returns undefined when it is no valid reason */
export function reasonIn(given: string): string | undefined {
  const reason = given.trim()
  return reason === '' || reason.length > lengthMax ? undefined : reason
}

export const reasonWanted =
  'the header X-Gslb-Override needs a reason of ' + `1 to ${lengthMax} characters`
