// $GENERATE: expands one line into many records by a counter. BIND 9 ARM section 3.5.
import type { RdataFault } from '#dns/rdata-text/tokens.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { Entry } from './entries.ts'
import { zoneFileLimits } from './zone-record.ts'

interface Generate {
  readonly start: number
  readonly stop: number
  readonly step: number
  /** The line of each record, `$` in place of the number. */
  readonly template: string
  readonly templateColumn: number
}

const rangeForm = 'a range, start-stop or start-stop/step, from 0 to 2147483647'

/** `$GENERATE range owner [ttl] [class] type rdata`; the rdata may be in quotes as a whole. */
export function readGenerate({ tokens, endColumn }: Entry): Result<Generate, RdataFault> {
  const { generateCountMax, generateTextMax } = zoneFileLimits
  const [, range, ...rest] = tokens
  if (range === undefined) return err({ column: endColumn, expected: rangeForm })
  const parts = /^(\d{1,10})-(\d{1,10})(?:\/(\d{1,10}))?$/.exec(range.text)
  const [start, stop, step] = [Number(parts?.[1]), Number(parts?.[2]), Number(parts?.[3] ?? 1)]
  const isRange = parts !== null && !range.isQuoted && step > 0 && start <= stop
  if (!isRange || stop > 0x7fffffff) return err({ column: range.column, expected: rangeForm })
  if ((stop - start) / step >= generateCountMax) {
    return err({ column: range.column, expected: `at most ${generateCountMax} records` })
  }
  const [owner] = rest
  if (owner === undefined || rest.length < 3) {
    return err({ column: endColumn, expected: 'an owner, a type and rdata to generate' })
  }
  if (owner.isQuoted) return err({ column: owner.column, expected: 'an owner without quotes' })
  const last = rest.length - 1
  const template = rest
    .map(({ text, isQuoted }, i) => {
      if (!isQuoted) return text
      return isRdata(i, last) ? withoutQuoting(text) : `"${text}"`
    })
    .join(' ')
  if (template.length > generateTextMax) {
    const expected = `at most ${generateTextMax} characters to generate from`
    return err({ column: owner.column, expected })
  }
  return ok({ start, stop, step, template, templateColumn: owner.column })
}

/** A quoted text is the whole rdata only if it is the single token behind the type. */
const isRdata = (index: number, last: number): boolean => index === last && last >= 2

/** Quotes inside of quoted rdata are those of its own texts. */
const withoutQuoting = (text: string): string =>
  text.replace(/\\[^]/g, (found) => (found === '\\"' ? '"' : found))

export function* generatedLines({
  start,
  stop,
  step,
  template,
}: Generate): Generator<Result<string, string>> {
  for (let number = start; number <= stop; number += step) {
    const line = expanded(template, number)
    yield line
    if (!line.ok) return
  }
}

/** `$`, `${offset,width,base}`, and `\$` or `$$` for a dollar sign. */
const place = /\\[^]|\$\$|\$\{[^}]*\}?|\$/g

function expanded(template: string, number: number): Result<string, string> {
  let complaint: string | undefined
  const line = template.replace(place, (found) => {
    if (found.startsWith('\\')) return found
    if (found === '$$') return '\\$'
    if (found === '$') return String(number)
    const text = modified(found, number)
    complaint ??= text.ok ? undefined : text.error
    return text.ok ? text.value : ''
  })
  return complaint === undefined ? ok(line) : err(complaint)
}

const bases: Readonly<Record<string, number>> = { d: 10, o: 8, x: 16, X: 16 }

function modified(found: string, number: number): Result<string, string> {
  const parts = /^\$\{([+-]?\d{1,10})(?:,(\d{1,3})(?:,([doxXnN]))?)?\}$/.exec(found)
  const width = Number(parts?.[2] ?? 0)
  const { generateWidthMax } = zoneFileLimits
  if (parts === null || width > generateWidthMax) {
    return err(`$\{offset,width,base}: a width up to ${generateWidthMax}, and d, o, x, X, n or N`)
  }
  const value = number + Number(parts[1])
  if (value < 0) return err(`an offset that does not lead below zero: ${found} of ${number}`)
  const base = parts[3] ?? 'd'
  if (base === 'n' || base === 'N') return ok(nibbles(value, width, base === 'N'))
  const digits = value.toString(bases[base]).padStart(width, '0')
  return ok(base === 'X' ? digits.toUpperCase() : digits)
}

/** Hex digits in reverse with dots between; the width counts the dots. */
function nibbles(value: number, width: number, isUpper: boolean): string {
  const hex = value.toString(16).padStart(Math.ceil(width / 2), '0')
  const text = [...(isUpper ? hex.toUpperCase() : hex)].reverse().join('.')
  return text.padEnd(width, '.')
}
