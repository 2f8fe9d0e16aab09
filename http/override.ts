// The request header X-Gslb-Override: why names may go that the guardrails would keep.
import { Type } from '#lib/schema/type.ts'

/** In lower case, as requests have it. */
export const overrideHeader = 'x-gslb-override'
const lengthMax = 200

export const OverrideReason = Type.String({ minLength: 1, maxLength: lengthMax, pattern: '\\S' })

/** @returns undefined when it is none */
export function reasonIn(given: string): string | undefined {
  const reason = given.trim()
  return reason === '' || reason.length > lengthMax ? undefined : reason
}

export const reasonWanted =
  'the header X-Gslb-Override needs a reason of ' + `1 to ${lengthMax} characters`
