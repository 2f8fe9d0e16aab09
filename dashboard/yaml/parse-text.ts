// Reads what stands in the editor as an object, and says where in the text a field stands.
import { LineCounter, isCollection, isMap, isPair, isScalar, parseDocument } from 'yaml'
import type { Document, Node, Pair } from 'yaml'

/** Characters of the text. */
interface Place {
  readonly from: number
  readonly to: number
}

export interface Fault extends Place {
  /** Counted from 1. */
  readonly line: number
  readonly sentence: string
}

interface Reading {
  /** null: it cannot be read, and the faults say why. */
  readonly value: Readonly<Record<string, unknown>> | null
  readonly faults: readonly Fault[]
  /** @param path `steps.0.weightPct`; as much of it is found as is there. */
  readonly faultAt: (path: string, sentence: string) => Fault
}

const faultsMax = 20

/** As the files of the configuration are read: YAML 1.2, one document, no aliases. */
export function read(text: string): Reading {
  const lines = new LineCounter()
  const document = parseDocument(text, {
    ...{ version: '1.2', schema: 'core', merge: false, prettyErrors: false, lineCounter: lines },
  })
  const fault = (from: number, to: number, sentence: string): Fault => ({
    from: Math.min(from, text.length),
    to: Math.min(Math.max(to, from), text.length),
    line: Math.max(1, lines.linePos(Math.min(from, text.length)).line),
    sentence,
  })
  const faultAt = (path: string, sentence: string): Fault => {
    const { from, to } = placeOf(document, path)
    return fault(from, to, sentence)
  }
  const faults = document.errors
    .slice(0, faultsMax)
    .map(({ pos: [from, to], message }) => fault(from, to, `This is not YAML: ${message}`))
  if (faults.length > 0) return { value: null, faults, faultAt }
  try {
    return { value: objectOf(document), faults, faultAt }
  } catch (error) {
    const sentence = error instanceof Error ? error.message : String(error)
    return { value: null, faults: [fault(0, text.length, sentence)], faultAt }
  }
}

/** @throws Error with a sentence */
function objectOf(document: Document.Parsed): Readonly<Record<string, unknown>> {
  const { contents } = document
  // Nothing, or comments alone.
  if (contents === null || (isScalar(contents) && contents.value === null)) return {}
  if (!isMap(contents)) throw new Error('Write fields, one a line: `name: value`.')
  try {
    return document.toJS({ maxAliasCount: 0 }) as Readonly<Record<string, unknown>>
  } catch {
    throw new Error('Aliases (`*name`) are not taken here: write the value in each place.')
  }
}

/** Where a field and its value are; for a missing one, the place of what it would be in. */
function placeOf(document: Document.Parsed, path: string): Place {
  let node: Node | null = document.contents
  let place: Place = lineAt(document.contents)
  for (const part of path.split('.')) {
    const found = childOf(node, part)
    if (found === undefined) break
    node = found.value
    place = found.place
  }
  return place
}

/** The first key of the document, which marks what is missing at its top level. */
function lineAt(contents: Node | null): Place {
  const [first] = isMap(contents) ? contents.items : []
  const range = (first?.key as Node | undefined)?.range
  return range ? { from: range[0], to: range[1] } : { from: 0, to: 0 }
}

function childOf(
  node: Node | null,
  part: string,
): { value: Node | null; place: Place } | undefined {
  if (!isCollection(node)) return undefined
  const items: readonly unknown[] = node.items
  const found = isMap(node)
    ? items.find((one) => isPair(one) && keyOf(one) === part)
    : items[Number(part)]
  if (isPair(found)) {
    const { key, value } = found as Pair<Node, Node | null>
    const [from, end] = key.range!
    return { value, place: { from, to: value?.range?.[1] ?? end } }
  }
  const range = (found as Node | undefined)?.range
  if (!range) return undefined
  return { value: found as Node, place: { from: range[0], to: range[1] } }
}

const keyOf = ({ key }: Pair): string => String(isScalar(key) ? key.value : key)
