// A hook that leads the focus to where one writes next.
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { RefObject } from 'preact'

/** @param turn another one leads there again: a step of the form, or a try that has failed */
export function useFirstField(turn: unknown): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null)
  useLayoutEffect(() => focusEmptyField(form.current), [turn])
  return form
}

/** Focuses the first empty field; when all are filled, the last one, which may be the wrong one. */
export function focusEmptyField(within: Element | null): void {
  const fields = [...(within?.querySelectorAll('input') ?? [])]
  const next = fields.find(({ value }) => value === '') ?? fields.at(-1)
  next?.focus()
}
