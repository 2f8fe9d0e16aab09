// Reads times as BIND's zone files write them: `3600`, `1h30m`, `2W`.
const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 }

export const ttlForm = 'seconds, or numbers with w, d, h, m or s (1h30m)'

/** @returns seconds, at most 20 digits of them; undefined when it is no time */
export function secondsOf(text: string): number | undefined {
  if (!isDigit(text.charCodeAt(0))) return undefined
  let number = 0
  let at = 0
  for (; at < text.length && isDigit(text.charCodeAt(at)); at++) {
    number = number * 10 + text.charCodeAt(at) - zero
  }
  if (at === text.length && at <= 20) return number
  if (text.length > 60 || !/^(?:\d+[wdhms])+$/i.test(text)) return undefined
  let seconds = 0
  for (const [, digits, unit] of text.matchAll(/(\d+)([a-z])/gi)) {
    seconds += Number(digits) * units[unit!.toLowerCase()]!
  }
  return seconds
}

/** By codes, without an expression: zone files have millions of words. */
const zero = 0x30
const isDigit = (code: number): boolean => code >= zero && code <= zero + 9
