// Reads times as BIND's zone files write them: `3600`, `1h30m`, `2W`.
const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 }

export const ttlForm = 'seconds, or numbers with w, d, h, m or s (1h30m)'

/** @returns seconds, at most 20 digits of them; undefined when it is no time */
export function secondsOf(text: string): number | undefined {
  if (!startsWithDigit(text)) return undefined
  if (/^\d{1,20}$/.test(text)) return Number(text)
  if (text.length > 60 || !/^(?:\d+[wdhms])+$/i.test(text)) return undefined
  let seconds = 0
  for (const [, digits, unit] of text.matchAll(/(\d+)([a-z])/gi)) {
    seconds += Number(digits) * units[unit!.toLowerCase()]!
  }
  return seconds
}

/** A quick test: most words of a zone file fail it and need no further look. */
function startsWithDigit(text: string): boolean {
  const code = text.charCodeAt(0)
  return code >= 0x30 && code <= 0x39
}
