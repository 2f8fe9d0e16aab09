// Parses and prints durations of the settings: `30s`, `24h`, `1h30m`, `"0"`.
import { err, ok } from './result.ts'
import type { Result } from './result.ts'

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}
const shape = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/
const part = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g

/** @returns milliseconds. Errors: a sentence with the accepted form. */
export function parseDuration(text: string): Result<number, string> {
  if (text === '0') return ok(0)
  if (!shape.test(text)) {
    return err(
      `"${text}" is not a duration; write a number with a unit, such as 500ms, 30s, 5m or 24h`,
    )
  }
  let totalMs = 0
  for (const [, amount, unit] of text.matchAll(part))
    totalMs += Number(amount) * (unitMs[unit ?? ''] ?? 0)
  return ok(totalMs)
}

/** Prints it in the largest unit of which it is a whole number. */
export function durationText(ms: number): string {
  const unit = ['d', 'h', 'm', 's'].find((one) => ms >= unitMs[one]! && ms % unitMs[one]! === 0)
  return unit === undefined ? `${ms}ms` : `${ms / unitMs[unit]!}${unit}`
}
