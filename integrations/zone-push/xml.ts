// Reads the XML that APIs answer: elements, texts and references, in bounded depth. Document types
// are refused, so nothing can be included or expanded.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

export interface XmlElement {
  /** Without its prefix. */
  readonly name: string
  readonly children: readonly XmlElement[]
  /** All text between the tags, without that of the children. */
  readonly text: string
}

export const xmlLimits = { depthMax: 32, elementsMax: 200_000 } as const

interface Open {
  readonly tag: string
  readonly children: XmlElement[]
  text: string
}

/** A tag, a comment, a section of text, or a processing instruction; then the text behind it. */
const attributes = /(?:\s+[\w.:-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*\s*/
const tagForm = `(\\/?)([A-Za-z_][\\w.:-]*)${attributes.source}(\\/?)>`
const others = /!--([^]*?)-->|!\[CDATA\[([^]*?)\]\]>|\?([^]*?)\?>/
const piece = new RegExp(`<(?:${others.source}|${tagForm})([^<]*)`, 'gy')

/** Errors: a clause. */
export function parseXml(source: string): Result<XmlElement, string> {
  const start = /^\uFEFF?\s*/.exec(source)![0].length
  const top: Open = { tag: '', children: [], text: '' }
  const open: Open[] = [top]
  let count = 0
  piece.lastIndex = start
  for (let at = start; at < source.length; at = piece.lastIndex) {
    const found = piece.exec(source)
    if (found === null) return err(`it is no XML at character ${at + 1}`)
    const [, comment, section, instruction, slash, tag, isEmpty, text = ''] = found
    const inside = open.at(-1)!
    if (tag !== undefined && slash === '/') {
      if (open.length === 1 || inside.tag !== tag) return err(`</${tag}> ends nothing`)
      open.pop()
      open.at(-1)!.children.push(closed(inside))
    } else if (tag !== undefined) {
      if (++count > xmlLimits.elementsMax) return err('it has too many elements')
      const begun: Open = { tag, children: [], text: '' }
      if (isEmpty === '/') inside.children.push(closed(begun))
      else if (open.length > xmlLimits.depthMax) return err('its elements are too deep')
      else open.push(begun)
    } else if (comment === undefined && instruction === undefined) inside.text += section ?? ''
    const plain = unescaped(text)
    if (plain === undefined) return err('it has a reference that is not known')
    open.at(-1)!.text += plain
  }
  const [root] = top.children
  if (open.length > 1) return err(`<${open.at(-1)!.tag}> has no end`)
  const isOne = root !== undefined && top.children.length === 1 && top.text.trim() === ''
  return isOne ? ok(root) : err('it is not one element')
}

const closed = ({ tag, children, text }: Open): XmlElement => ({
  ...{ name: tag.slice(tag.indexOf(':') + 1), children, text },
})

const named: Readonly<Record<string, string>> = {
  ...{ lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" },
}

/** @returns undefined: it has a reference that is none of XML itself */
function unescaped(text: string): string | undefined {
  if (!text.includes('&')) return text
  let isWhole = true
  const plain = text.replaceAll(/&([^;&]{0,16});?/g, (all, word: string) => {
    const code = /^#(?:(\d{1,7})|x([0-9a-fA-F]{1,6}))$/.exec(word)
    const point = Number(code?.[1] ?? parseInt(code?.[2] ?? '', 16))
    const isPoint = point > 0 && point <= 0x10ffff && !(point >= 0xd800 && point < 0xe000)
    const meant = code === null ? named[word] : isPoint ? String.fromCodePoint(point) : undefined
    if (meant === undefined || !all.endsWith(';')) isWhole = false
    return meant ?? ''
  })
  return isWhole ? plain : undefined
}

export function escapeXml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}

/** Children of this name. */
export const childrenOf = ({ children }: XmlElement, name: string): readonly XmlElement[] =>
  children.filter((child) => child.name === name)

export const childOf = (element: XmlElement, name: string): XmlElement | undefined =>
  element.children.find((child) => child.name === name)

/** Text of the first child of this name; empty: there is none. */
export const textIn = (element: XmlElement, name: string): string =>
  childOf(element, name)?.text ?? ''
