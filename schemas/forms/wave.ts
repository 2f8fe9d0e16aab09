// Parses the labels and durations of a wave.
import { parseDuration } from '#lib/duration.ts'

const holdMaxMs = 7 * 86_400_000

/** undefined: not `key=value` pairs with commas, or a key comes twice. */
export function readLabels(text: string): Readonly<Record<string, string>> | undefined {
  const pairs = text.split(',').map((pair) => form.exec(pair.trim()))
  if (pairs.some((pair) => pair === null)) return undefined
  const labels = Object.fromEntries(pairs.map((pair) => [pair![1]!, pair![2]!]))
  return Object.keys(labels).length === pairs.length ? labels : undefined
}

/** The same form as in the settings of a node. */
const form =
  /^([a-z0-9](?:[a-z0-9._/-]{0,61}[a-z0-9])?)=([A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)$/

/** undefined: not a duration, or longer than a hold may be. */
export function readHold(text: string): number | undefined {
  const parsed = parseDuration(text)
  return parsed.ok && parsed.value <= holdMaxMs ? parsed.value : undefined
}
