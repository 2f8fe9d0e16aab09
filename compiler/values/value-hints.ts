// Suggests the right value for one of the wrong type: the number in `5m`, `true` for `yes`.
import type { JsonSchema } from '#schemas/json-schema.ts'

interface ValueHint {
  /** A clause of advice. */
  readonly help: string
  /** The value probably meant; undefined where unknown. */
  readonly meant?: unknown
}

const secondsIn: Readonly<Record<string, number>> = Object.freeze({
  ms: 0.001,
  s: 1,
  sec: 1,
  m: 60,
  min: 60,
  h: 3_600,
  d: 86_400,
  w: 604_800,
})

/**
 * @param name of the field
 * @param wanted type or types of the schema
 */
export function valueHint(name: string, schema: JsonSchema, value: unknown): ValueHint {
  const types = [schema['type']].flat() as string[]
  if (typeof value === 'string') {
    const hint = types.some((type) => type === 'integer' || type === 'number')
      ? numberHint(name, value)
      : types.includes('boolean')
        ? booleanHint(name, value)
        : undefined
    if (hint !== undefined) return hint
  }
  const isPlain = typeof value === 'number' || typeof value === 'boolean'
  if (isPlain && types.includes('string'))
    return { help: `put quotes around it: ${name}: "${value}"`, meant: String(value) }
  if (typeof value === 'number' && types.includes('integer') && Number.isFinite(value)) {
    const rounded = Math.round(value)
    return { help: `write a whole number, such as ${name}: ${rounded}`, meant: rounded }
  }
  if (value === null) return { help: `write a value after "${name}:", or remove the line` }
  return { help: generic(types) }
}

function generic(types: readonly string[]): string {
  if (types.includes('boolean')) return 'write true or false, without quotes'
  if (types.includes('string')) return 'write text, with quotes where it looks like a number'
  return 'write digits alone, without quotes'
}

function numberHint(name: string, value: string): ValueHint | undefined {
  const text = value.trim()
  const write = (number: number, why: string): ValueHint => ({
    help: `write ${name}: ${number}${why}`,
    meant: number,
  })
  if (/^-?\d{1,15}(?:\.\d+)?$/.test(text)) return write(Number(text), ', without quotes')
  const duration = /^(\d{1,9})\s*(ms|s|sec|m|min|h|d|w)$/i.exec(text)
  if (duration !== null) {
    const [, digits, unit = ''] = duration
    const seconds = Number(digits) * secondsIn[unit.toLowerCase()]!
    const inMs = name.endsWith('Ms')
    if (inMs) return write(seconds * 1_000, ` (milliseconds; no unit is written)`)
    if (Number.isInteger(seconds)) return write(seconds, ' (seconds; no unit is written)')
  }
  const percent = /^(\d{1,9})\s*%$/.exec(text)
  if (percent !== null) return write(Number(percent[1]), '; % is not written')
  const protocol = /^(\d{1,5})\/[a-z]+$/i.exec(text)
  if (protocol !== null) return write(Number(protocol[1]), '; the protocol is not written here')
  const grouped = /^\d{1,3}(?:[,_' ]\d{3})+$/.exec(text)
  if (grouped !== null)
    return write(Number(text.replace(/[,_' ]/g, '')), ', without signs between the digits')
  return undefined
}

function booleanHint(name: string, value: string): ValueHint | undefined {
  const word = value.toLowerCase()
  const isTrue = ['yes', 'y', 'on', 'true', '1', 'enabled'].includes(word)
  if (!isTrue && !['no', 'n', 'off', 'false', '0', 'disabled'].includes(word)) return undefined
  return { help: `write ${name}: ${isTrue}, without quotes`, meant: isTrue }
}

/** Advice for a list, a mapping or a single value in place of another of these. */
export function shapeHint(name: string, schema: JsonSchema, value: unknown): ValueHint {
  const types = [schema['type']].flat() as string[]
  if (value === null) {
    const empty = types.includes('array') ? '[]' : '{}'
    const needs = ((schema['required'] ?? []) as readonly string[]).length > 0
    const or = needs ? '' : `, or write ${name}: ${empty}`
    return { help: `write what belongs to it below, indented by two more spaces${or}` }
  }
  if (Array.isArray(value)) {
    return types.includes('object')
      ? { help: 'remove the dashes or brackets: its fields stand below it, indented, without "- "' }
      : { help: `write one value after "${name}:", without a dash or brackets` }
  }
  if (types.includes('array')) {
    if (typeof value === 'object')
      return {
        help:
          'put "- " in front of the first field of each entry, and indent its other fields by ' +
          'two more spaces',
      }
    const several = typeof value === 'string' ? partsOf(value) : undefined
    if (several !== undefined)
      return { help: `write a list: ${name}: [${several.join(', ')}]`, meant: several }
    return { help: `write it as an entry: ${name}: [${JSON.stringify(value)}]`, meant: [value] }
  }
  if (types.includes('object'))
    return { help: `write "${name}:" alone, and its fields below it, indented by two more spaces` }
  return { help: `write one value after "${name}:", in the same line` }
}

/** Plain words separated by commas; undefined: a single text. */
function partsOf(text: string): readonly string[] | undefined {
  const parts = text.split(',').map((part) => part.trim())
  return parts.length > 1 && parts.every((part) => /^[a-z][\w.-]*$/i.test(part)) ? parts : undefined
}
