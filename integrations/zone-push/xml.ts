// Reads the XML that APIs answer: elements and texts, in bounded depth and number. Document types
// are refused, so nothing can be included or expanded.
import { SaxesParser } from 'saxes'
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
  readonly name: string
  readonly children: XmlElement[]
  text: string
}

/** Errors: a clause. */
export function parseXml(source: string): Result<XmlElement, string> {
  const parser = new SaxesParser({ xmlns: true })
  const top: Open = { name: '', children: [], text: '' }
  const open: Open[] = [top]
  let count = 0
  parser.on('error', refuse)
  parser.on('doctype', () => refuse(new Error('it has a document type')))
  parser.on('opentag', ({ local: name }) => {
    if (++count > xmlLimits.elementsMax) refuse(new Error('it has too many elements'))
    if (open.length > xmlLimits.depthMax) refuse(new Error('its elements are too deep'))
    const begun: Open = { name, children: [], text: '' }
    open.at(-1)!.children.push(begun)
    open.push(begun)
  })
  parser.on('closetag', () => void open.pop())
  const addText = (text: string): void => {
    open.at(-1)!.text += text
  }
  parser.on('text', addText)
  parser.on('cdata', addText)
  try {
    parser.write(source).close()
    return ok(top.children[0]!)
  } catch (error) {
    return err((error as Error).message)
  }
}

/** Without it, the parser would go on behind a fault. */
function refuse(fault: Error): never {
  throw fault
}

export function escapeXml(text: string): string {
  return text.replaceAll(/[&<>"'\r]/g, (sign) => `&#${sign.charCodeAt(0)};`)
}

/** Children of this name. */
export const childrenOf = ({ children }: XmlElement, name: string): readonly XmlElement[] =>
  children.filter((child) => child.name === name)

export const childOf = (element: XmlElement, name: string): XmlElement | undefined =>
  element.children.find((child) => child.name === name)

/** Text of the first child of this name; empty: there is none. */
export const textIn = (element: XmlElement, name: string): string =>
  childOf(element, name)?.text ?? ''
