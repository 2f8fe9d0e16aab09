// Reads a step of a list such as a filter chain, `name` or `name:VALUE`, and writes it again.
import type { Schema, StepKind } from '../api/schema.ts'
import type { Draft } from './inner-fields.ts'

export interface Step {
  /** As it is written, which may be an alias. */
  readonly name: string
  /** Undefined: this node knows no such step. */
  readonly kind: StepKind | undefined
  /** Options of the step; empty where the kind has none. */
  readonly draft: Draft
}

export const kindsOf = ({ items }: Schema): readonly StepKind[] => items?.['x-steps'] ?? []

export function stepOf(value: unknown, kinds: readonly StepKind[]): Step {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const colon = text.indexOf(':')
  const name = colon < 0 ? text : text.slice(0, colon)
  const kind = kinds.find((one) => [one.name, ...one.aliases].includes(name))
  const option = optionOf(kind)
  if (option !== undefined) {
    return { name, kind, draft: colon < 0 ? {} : { [option]: text.slice(colon + 1) } }
  }
  return colon < 0 ? { name, kind, draft: {} } : { name: text, kind: undefined, draft: {} }
}

export function textOfStep(name: string, kind: StepKind | undefined, draft: Draft): string {
  const option = optionOf(kind)
  if (option === undefined) return name
  const value = draft[option]
  return `${name}:${typeof value === 'string' ? value : ''}`
}

/** The field of what stands behind the colon. */
export function optionOf(kind: StepKind | undefined): string | undefined {
  return Object.keys(kind?.options?.properties ?? {})[0]
}

export function moved<Row>(rows: readonly Row[], from: number, to: number): readonly Row[] {
  return rows.toSpliced(from, 1).toSpliced(to, 0, rows[from]!)
}

/**
 * Where a step that is dragged would come to stand.
 *
 * @param middles of all steps, from top to bottom, in pixels
 * @param y of the pointer
 */
export function placeAt(middles: readonly number[], from: number, y: number): number {
  return middles.filter((middle, i) => i !== from && middle < y).length
}

/** The earlier step that ends the list before this one; undefined: this one is reached. */
export function endBefore(steps: readonly Step[], at: number): Step | undefined {
  return steps.slice(0, at).find(({ kind }) => kind?.isLast === true)
}
