// An object of an export that tracks which of its fields were read: the others are reported with
// their places.
import { isAlias, isMap, isNode, isScalar, isSeq } from 'yaml'
import type { Document, Node } from 'yaml'
import type { ZonePlace } from '#dns/zone-file/zone-record.ts'
import { isFields } from '#lib/text/json.ts'
import type { Fields } from '#lib/text/json.ts'

/** The treatment of a field, as a line for people. */
interface FieldNote {
  readonly is: 'left out' | 'not mapped'
  readonly place: ZonePlace
  readonly text: string
}

/** State shared by all objects of a document. */
interface Shared {
  readonly document: Document
  readonly placeAt: (offset: number) => ZonePlace
  /** By the shape of a path: fields without effect on answers. */
  readonly asides: Map<string, { readonly note: FieldNote; count: number }>
}

/** Empty values mean nothing to any reader. */
const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (Array.isArray(value) && value.length === 0) ||
  (isFields(value) && Object.keys(value).length === 0)

/** Notes about unread fields of one shape; further ones are counted. */
const notesOfShapeMax = 10
const shownMax = 80

export class ExportObject {
  /** Path for people: `ResourceRecordSets[3].AliasTarget`. */
  readonly path: string
  /** The path without numbers and names: `ResourceRecordSets[].AliasTarget`. */
  readonly #shape: string
  readonly place: ZonePlace
  readonly #fields: Fields
  readonly #node: Node | undefined
  readonly #shared: Shared
  readonly #read = new Set<string>()
  readonly #children = new Map<string, readonly ExportObject[]>()
  #nodes: ReadonlyMap<string, Node> | undefined
  readonly #twice: [key: string, place: ZonePlace][] = []
  #isReported = false

  private constructor(
    fields: Fields,
    node: Node | undefined,
    names: readonly [path: string, shape: string],
    place: ZonePlace,
    shared: Shared,
  ) {
    this.#fields = fields
    this.#node = node
    ;[this.path, this.#shape] = names
    this.place = place
    this.#shared = shared
  }

  /** An object that has a value of a document as its only field. */
  static around(
    key: string,
    value: unknown,
    document: Document,
    placeAt: Shared['placeAt'],
  ): ExportObject {
    const shared = { document, placeAt, asides: new Map<string, never>() }
    const root = new ExportObject({ [key]: value }, undefined, ['', ''], placeAt(0), shared)
    const { contents } = document
    root.#nodes = new Map(isNode(contents) ? [[key, contents]] : [])
    return root
  }

  has(key: string): boolean {
    return !isEmpty(this.#value(key))
  }

  isRead(key: string): boolean {
    return this.#read.has(key)
  }

  /** Number of values in a list; 1 for another value. */
  count(key: string): number {
    const value = this.#value(key)
    return Array.isArray(value) ? value.length : this.has(key) ? 1 : 0
  }

  isList(key: string): boolean {
    return Array.isArray(this.#value(key))
  }

  isObject(key: string): boolean {
    return isFields(this.#value(key))
  }

  /** Returns a text or number as text; '' for other values, which then count as unread. */
  text(key: string): string {
    const value = this.#value(key)
    if (typeof value !== 'string' && typeof value !== 'number') return ''
    this.#read.add(key)
    return String(value)
  }

  /** @returns undefined for a value that is no number, which then counts as unread */
  number(key: string): number | undefined {
    const value = this.#value(key)
    const isText = typeof value === 'string' && /^\d+(?:\.\d+)?$/.test(value)
    const found = isText ? Number(value) : value
    if (typeof found !== 'number' || !Number.isFinite(found)) return undefined
    this.#read.add(key)
    return found
  }

  flag(key: string): boolean | undefined {
    const value = this.#value(key)
    if (typeof value !== 'boolean') return undefined
    this.#read.add(key)
    return value
  }

  /** The texts of a list, or a single text. Other items are reported. */
  texts(key: string): readonly string[] {
    const value = this.#value(key)
    if (!Array.isArray(value)) return this.has(key) ? [this.text(key)].filter(Boolean) : []
    const found = value.filter((one) => typeof one === 'string' || typeof one === 'number')
    if (found.length === value.length) this.#read.add(key)
    return found.map(String)
  }

  /** Returns an empty object where there is none. */
  object(key: string): ExportObject {
    return this.isObject(key) ? this.#childrenAt(key)[0]! : this.#nothing(key)
  }

  /**
   * The objects of a list, or a single object. Other items are reported.
   *
   * @param kind stands for keys that are names, so that they are reported together
   */
  objects(key: string, kind = key): readonly ExportObject[] {
    return this.isList(key) || this.isObject(key) ? this.#childrenAt(key, kind) : []
  }

  /** Texts, numbers and objects of a list, or such a value alone. */
  items(key: string): readonly (string | ExportObject)[] {
    const value = this.#value(key)
    const list: readonly unknown[] = Array.isArray(value) ? value : this.has(key) ? [value] : []
    const objects = [...this.objects(key)]
    const found = list.flatMap((one): readonly (string | ExportObject)[] => {
      if (isFields(one)) return [objects.shift()!]
      return typeof one === 'string' || typeof one === 'number' ? [String(one)] : []
    })
    if (found.length === list.length) this.#read.add(key)
    return found
  }

  keys(): readonly string[] {
    return Object.keys(this.#fields)
  }

  /**
   * Marks fields without effect on answers: they are reported together, the first with its place.
   */
  aside(why: string, ...keys: readonly string[]): void {
    for (const key of keys) {
      if (!this.has(key) || this.#read.has(key)) continue
      this.#read.add(key)
      this.#note(key, why)
    }
  }

  /** Marks a value as read if it is one without effect. */
  asUsual(key: string, ...values: readonly unknown[]): void {
    if (values.includes(this.#value(key))) this.aside('as usual', key)
  }

  /** Marks the whole object as reported by the caller. */
  markReported(): void {
    this.#isReported = true
  }

  /** Call it once, on the outermost object, when everything was read. */
  notes(): readonly FieldNote[] {
    const unread = [...this.#unread()]
    const counts = new Map<string, number>()
    for (const { shape } of unread) counts.set(shape, (counts.get(shape) ?? 0) + 1)
    const reported = new Map<string, number>()
    const notes: FieldNote[] = []
    for (const { shape, place, text } of unread) {
      const before = reported.get(shape) ?? 0
      reported.set(shape, before + 1)
      if (before >= notesOfShapeMax) continue
      const more = counts.get(shape)! - notesOfShapeMax
      const isLast = before === notesOfShapeMax - 1 && more > 0
      notes.push({ is: 'not mapped', place, text: isLast ? `${text}; and ${more} more` : text })
    }
    for (const { note, count } of this.#shared.asides.values()) {
      const which = count === 1 ? '' : `; ${count} fields, this is the first`
      notes.push({ ...note, text: `${note.text}${which}` })
    }
    return notes
  }

  #value(key: string): unknown {
    return Object.hasOwn(this.#fields, key) ? this.#fields[key] : undefined
  }

  #childrenAt(key: string, kind = key): readonly ExportObject[] {
    const known = this.#children.get(key)
    if (known !== undefined) return known
    const value = this.#value(key)
    const node = this.#nodeOf(key)
    const [path, shape] = this.#names(key, kind)
    const { document } = this.#shared
    const items = Array.isArray(value)
      ? value.map((one: unknown, i) => {
          const item = isSeq(node) ? resolved(node.items[i], document) : undefined
          return [one, item, `${path}[${i}]`, `${shape}[]`] as const
        })
      : [[value, node, path, shape] as const]
    const found = items.flatMap(([one, item, ...names]) =>
      isFields(one)
        ? [new ExportObject(one, item, names, this.#placeOf(item) ?? this.place, this.#shared)]
        : [],
    )
    this.#children.set(key, found)
    if (found.length === items.length) this.#read.add(key)
    return found
  }

  #nothing(key: string): ExportObject {
    return new ExportObject({}, undefined, this.#names(key), this.place, this.#shared)
  }

  #names(key: string, kind = key): readonly [string, string] {
    const join = (before: string, name: string): string =>
      before === '' ? name : `${before}.${name}`
    return [join(this.path, key), join(this.#shape, kind)]
  }

  #nodeOf(key: string): Node | undefined {
    if (this.#nodes === undefined) {
      const nodes = new Map<string, Node>()
      for (const { key: name, value } of isMap(this.#node) ? this.#node.items : []) {
        const text = keyText(isScalar(name) ? name.value : name)
        const node = resolved(value, this.#shared.document)
        const before = nodes.get(text)
        if (before !== undefined) this.#twice.push([text, this.#placeOf(before) ?? this.place])
        if (node !== undefined) nodes.set(text, node)
      }
      this.#nodes = nodes
    }
    return this.#nodes.get(key)
  }

  #placeOf(node: Node | undefined): ZonePlace | undefined {
    return node?.range ? this.#shared.placeAt(node.range[0]) : undefined
  }

  #note(key: string, why: string): void {
    const text = `${this.#names(key)[1]}: ${why}`
    const known = this.#shared.asides.get(text)
    const place = this.#placeOf(this.#nodeOf(key)) ?? this.place
    const note: FieldNote = { is: 'left out', place, text }
    if (known === undefined) this.#shared.asides.set(text, { note, count: 1 })
    else known.count++
  }

  *#unread(): Generator<{ shape: string; place: ZonePlace; text: string }> {
    if (this.#isReported) return
    for (const key of this.keys()) {
      const [path, shape] = this.#names(key)
      const place = this.#placeOf(this.#nodeOf(key)) ?? this.place
      for (const child of this.#children.get(key) ?? []) yield* child.#unread()
      if (this.#read.has(key) || !this.has(key)) continue
      const shown = JSON.stringify(this.#value(key)) ?? ''
      const value = shown.length > shownMax ? `${shown.slice(0, shownMax)}…` : shown
      yield { shape, place, text: `${path}: ${value}` }
    }
    for (const [key, place] of this.#twice) {
      const [path, shape] = this.#names(key)
      yield { shape, place, text: `${path}: it is there twice, and the last one counts` }
    }
  }
}

function resolved(node: unknown, document: Document): Node | undefined {
  if (isAlias(node)) return node.resolve(document)
  return isNode(node) ? node : undefined
}

/** A key as `toJS` prints it. */
const keyText = (key: unknown): string =>
  typeof key === 'string' || typeof key === 'number' || typeof key === 'boolean' ? `${key}` : ''
