// Reads a YAML file as plain values without places, unless two parsers might read it differently: a
// tenth of the cost of the parser that keeps places.
import { COLLECTION_STYLE, EVENT_ID, getScalarValue, parseEvents, SCALAR_STYLE } from 'js-yaml'
import type { Event, MappingEvent, ScalarEvent, SequenceEvent } from 'js-yaml'
import { shared } from '#lib/memory/string-memory.ts'
import { depthMax, jsonLinesValue, keyCharactersMax } from './json-lines.ts'
import { piecesMax } from './parse.ts'

/** Look-alike characters and characters that cannot be printed. */
const doubtfulSigns =
  '[^\\n\\r\\x20-\\x7e\\xa1-\\u167f\\u1681-\\u1fff\\u2010-\\u2027\\u3001-\\ud7ff]'

/**
 * Text that two YAML parsers may read differently, or outside of the profile: look-alikes, tags and
 * anchors, explicit keys, merges, directives, ends of documents and indented starts, blocks with an
 * indentation indicator or kept blanks, escapes of half a surrogate pair, and runs of blanks in
 * which a key gets too long.
 */
const doubtful = new RegExp(
  [
    doubtfulSigns,
    '\\r(?!\\n)',
    '(?:^|[\\s,[{:])[&!]',
    '(?:^|[\\s,[{])\\?(?:\\s|$)',
    '<<',
    '^(?:%|\\.\\.\\.| +---(?:\\s|$))',
    '[|>](?:[+]|-?[1-9])',
    '\\\\[uU]',
    ' {200}',
  ].join('|'),
  'm',
)

/** In JSON all else is between quotes, where both parsers agree. */
const doubtfulInJson = new RegExp(`${doubtfulSigns}|\\\\u|"<<"`)

/**
 * @returns the same value as the parser that keeps places, which then has no findings; undefined:
 * that parser must read the text
 */
export function plainValue(text: string): object | undefined {
  const json = doubtfulInJson.test(text) ? undefined : jsonLinesValue(text)
  if (json !== undefined) return json
  if (doubtful.test(text)) return undefined
  let events: readonly Event[]
  try {
    events = parseEvents(text, { maxDepth: depthMax })
  } catch {
    return undefined
  }
  return new Composer(text).compose(events)
}

/** Characters before the first item or key of a line: dashes of lists, and a quote. */
const beforeFirst = new Set(' -"\'')

type Container = unknown[] | Record<string, unknown>

/** Pieces of a collection: its brackets, the dash or comma before it, a comma at its end. */
const collectionPieces = 4
/** Pieces of a scalar: its marker, an indicator before or after it, and the head of a block. */
const scalarPieces = 3

class Composer {
  readonly #text: string
  readonly #stack: Container[] = []
  /** For each on the stack, whether it is written without brackets. */
  readonly #isBlock: boolean[] = []
  /** For each on the stack, the key whose value comes next. */
  readonly #keys: (string | undefined)[] = []
  #isDoubtful = false
  #root: unknown
  #pieces = 0

  constructor(text: string) {
    this.#text = text
  }

  compose(events: readonly Event[]): object | undefined {
    const [first] = events
    if (first?.type !== EVENT_ID.DOCUMENT || first.directives.length > 0) return undefined
    for (let i = 1; i < events.length && !this.#isDoubtful; i++) this.#take(events[i]!)
    if (this.#isDoubtful || this.#pieces > piecesMax) return undefined
    const root = this.#root
    return typeof root === 'object' && root !== null && !Array.isArray(root) ? root : undefined
  }

  #take(event: Event): void {
    switch (event.type) {
      case EVENT_ID.SCALAR:
        return this.#scalar(event)
      case EVENT_ID.MAPPING:
        return this.#open({}, event)
      case EVENT_ID.SEQUENCE:
        return this.#open([], event)
      case EVENT_ID.POP:
        this.#stack.pop()
        this.#isBlock.pop()
        this.#keys.pop()
        return
      case EVENT_ID.ALIAS:
      case EVENT_ID.DOCUMENT:
        this.#isDoubtful = true
    }
  }

  #open(container: Container, { start, style }: MappingEvent | SequenceEvent): void {
    this.#pieces += collectionPieces
    this.#add(container, start)
    this.#stack.push(container)
    this.#isBlock.push(style === COLLECTION_STYLE.BLOCK)
    this.#keys.push(undefined)
  }

  #scalar(event: ScalarEvent): void {
    const isPlain = event.style === SCALAR_STYLE.PLAIN
    this.#pieces += isPlain ? scalarPieces - 1 : scalarPieces
    const source = getScalarValue(this.#text, event)
    this.#add(isPlain ? this.#resolved(source) : shared(source), event.valueStart)
  }

  #resolved(source: string): unknown {
    if (core.has(source)) return core.get(source)
    if (!maybeNumber.test(source)) return shared(source)
    if (usualNumber.test(source)) return Number(source)
    if (anyNumber.test(source)) this.#isDoubtful = true
    return shared(source)
  }

  /** @param start offset of the value's text */
  #add(value: unknown, start: number): void {
    const container = this.#stack.at(-1)
    // The key is undefined when a key comes next, not its value.
    const isFirst = this.#isBlock.at(-1) === true && this.#keys.at(-1) === undefined
    if (isFirst && !this.#isFirstOnLine(start)) this.#isDoubtful = true
    if (container === undefined) this.#root = value
    else if (Array.isArray(container)) container.push(value)
    else this.#addTo(container, value)
  }

  /**
   * js-yaml lets a block continue after a quoted text or a bracket that ends an item of another
   * one.
   */
  #isFirstOnLine(start: number): boolean {
    let at = start - 1
    while (at >= 0 && beforeFirst.has(this.#text[at]!)) at--
    return at < 0 || this.#text[at] === '\n' || this.#text[at] === '\r'
  }

  #addTo(container: Record<string, unknown>, value: unknown): void {
    const last = this.#keys.length - 1
    const key = this.#keys[last]
    if (key !== undefined) {
      container[key] = value
      this.#keys[last] = undefined
      // `{ port:443 }` is one key without a value.
      this.#isDoubtful ||= value === null && key.includes(':')
    } else if (typeof value !== 'string' || value.length > keyCharactersMax) this.#isDoubtful = true
    else {
      this.#keys[last] = value
      // Names that every object has, such as `__proto__`, are not fields.
      this.#isDoubtful ||= value in container
    }
  }
}

/** Words of the core schema. YAML 1.2.2 section 10.3.2. */
const core: ReadonlyMap<string, null | boolean> = new Map([
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
  ...['true', 'True', 'TRUE'].map((word) => [word, true] as const),
  ...['false', 'False', 'FALSE'].map((word) => [word, false] as const),
])

const maybeNumber = /^[-+.\d]/
const usualNumber = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,9})?$/
/** Accepts more than numbers: a false match only makes the text doubtful. */
const anyNumber =
  /^[-+]?(?:\d+(?:\.\d*)?|\.\d+|0[xX][\da-fA-F]+|0[oO][0-7]+)(?:[eE].*)?$|^[-+]?\.[a-zA-Z]+$/
