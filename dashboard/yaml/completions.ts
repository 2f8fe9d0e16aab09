// Lists what may be written at a place of a YAML text: fields, values, names of objects.
import { typesOf, withoutNull } from '../api/schema.ts'
import type { Schema } from '../api/schema.ts'
import { withoutMarks } from '../parts/formats.ts'

/** An object that a field may name. */
interface Thing {
  readonly id: string
  readonly words: string
}

interface Offer {
  readonly label: string
  /** Text that replaces the typed one. */
  readonly text: string
  readonly detail: string
  readonly info: string
}

export interface Offers {
  /** Where the word begins that the offers take the place of. */
  readonly from: number
  readonly offers: readonly Offer[]
}

interface Line {
  /** Where the key begins, in characters; a dash counts as an indent. */
  readonly column: number
  readonly startsItem: boolean
  readonly key: string
}

const keyLine = /^(\s*(?:- +)*)(?:"([^"]*)"|([\w-]+)):(?:\s|$)/
const wordEnd = /^(\s*(?:- +)*)([\w-]*)$/
const valueEnd = /^\s*(?:- +)*([\w-]+): +(.*)$/

/** @param at the place of the cursor in the text */
export function offersAt(
  text: string,
  at: number,
  schema: Schema,
  things: (field: string) => readonly Thing[],
): Offers | null {
  const before = text.slice(0, at).split('\n')
  const line = before.pop() ?? ''
  const above = before.map(lineOf)
  const below = text.slice(at).split('\n').slice(1).map(lineOf)
  const value = valueEnd.exec(line)
  if (value !== null) {
    const [, key = '', begun = ''] = value
    const column = line.length - line.replace(/^\s*(?:- +)*/, '').length
    const of = schemaAt(schema, [...pathTo(above, column), key])
    const offers = valuesOf(of, key, things)
    return offers.length === 0 ? null : { from: at - begun.length, offers }
  }
  const word = wordEnd.exec(line)
  if (word === null) return null
  const [, { length: column } = '', begun = ''] = word
  const path = pathTo(above, column)
  const from = at - begun.length
  const of = withItems(schemaAt(schema, path))
  const startsItem = /-/.test(word[1] ?? '')
  if (of.properties === undefined) {
    return startsItem ? { from, offers: valuesOf(of, path.at(-1) ?? '', things) } : null
  }
  const taken = siblings(above, below, column, startsItem)
  return { from, offers: fieldsOf(of, taken) }
}

function lineOf(line: string): Line | null {
  const found = keyLine.exec(line)
  if (found === null) return null
  const [, indent = '', quoted, plain = ''] = found
  return { column: indent.length, startsItem: indent.includes('-'), key: quoted ?? plain }
}

/** The keys around a place, outermost first. */
function pathTo(above: readonly (Line | null)[], column: number): string[] {
  const path: string[] = []
  let inside = column
  for (const line of above.toReversed()) {
    if (line === null || line.column >= inside) continue
    path.unshift(line.key)
    inside = line.column
  }
  return path
}

/** Fields that stand beside the place: each is written once. */
function siblings(
  above: readonly (Line | null)[],
  below: readonly (Line | null)[],
  column: number,
  startsItem: boolean,
): ReadonlySet<string> {
  const found = new Set<string>()
  for (const line of startsItem ? [] : above.toReversed()) {
    if (line === null || line.column > column) continue
    if (line.column < column) break
    found.add(line.key)
    if (line.startsItem) break
  }
  for (const line of below) {
    if (line === null || line.column > column) continue
    if (line.column < column || line.startsItem) break
    found.add(line.key)
  }
  return found
}

function schemaAt(schema: Schema, path: readonly string[]): Schema {
  let found = withoutNull(schema)
  for (const key of path) {
    const { properties = {}, additionalProperties: others } = withItems(found)
    const more = typeof others === 'object' ? others : {}
    found = withoutNull(Object.hasOwn(properties, key) ? properties[key]! : more)
  }
  return found
}

/** Goes from a list to its items; the list's description stands in where they have none. */
function withItems(schema: Schema): Schema {
  if (schema.items === undefined) return schema
  const { description = '' } = schema
  return withItems({ description, ...withoutNull(schema.items) })
}

function fieldsOf({ properties = {}, required }: Schema, taken: ReadonlySet<string>): Offer[] {
  const needed = new Set(required)
  const names = Object.keys(properties).filter((name) => !taken.has(name))
  const order = names.toSorted((a, b) => Number(needed.has(b)) - Number(needed.has(a)))
  return order.map((name) => {
    const part = withoutNull(properties[name]!)
    const [type = ''] = typesOf(part)
    const isNested = type === 'object' || type === 'array'
    return {
      label: name,
      text: isNested ? `${name}:` : `${name}: `,
      detail: needed.has(name) ? `${type}, required` : type,
      info: withoutMarks(part.description ?? ''),
    }
  })
}

function valuesOf(
  schema: Schema,
  field: string,
  things: (field: string) => readonly Thing[],
): Offer[] {
  const { enum: values, default: usual, description = '', examples = [] } = schema
  const [type = ''] = typesOf(schema)
  const listed = values ?? (type === 'boolean' ? [true, false] : [])
  const plainOnes = listed.filter((one) => one !== null && one !== '').map(String)
  const shown = type === 'string' && listed.length === 0 ? wordsIn(description) : []
  const usualOnes = [usual, ...examples].filter((one) => one !== undefined && one !== null)
  const texts = usualOnes.filter((one) => typeof one !== 'object' && one !== '').map(String)
  const words = [...new Set([...plainOnes, ...shown, ...texts])].map((text) => ({
    ...{ label: text, text, info: '' },
    detail: text === String(usual) ? 'unless it is said' : '',
  }))
  const named = things(field).map(({ id, words: label }) => ({
    ...{ label, text: id, detail: label.includes(id) ? '' : id, info: '' },
  }))
  return [...words, ...named]
}

/** Where the schema takes any text, its description names the usual ones. */
const wordsIn = (description: string): string[] =>
  [...description.matchAll(/`([a-z][a-z-]*)`/g)].map(([, word = '']) => word)
