// A dialog over the page: the browser keeps the focus in it, and Escape closes it.
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { focusEmptyField } from './first-field.ts'

interface DialogProps {
  readonly title: string
  /** Undefined: it stays until its task is done. */
  readonly onClose?: (() => void) | undefined
  /** Called at Escape, which is easily hit, in place of closing. */
  readonly onEscape?: (() => void) | undefined
  /** True: filled fields are skipped by the first focus. */
  readonly skipsFilled?: boolean
  readonly class?: string
  readonly children: ComponentChildren
}

export function Dialog({
  title,
  onClose,
  onEscape = onClose,
  skipsFilled = false,
  class: more = '',
  children,
}: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    // Focuses a field, not the button that closes.
    if (skipsFilled) focusEmptyField(dialog)
    else dialog?.querySelector<HTMLElement>('input, select, textarea')?.focus()
    return () => dialog?.close()
  }, [])
  return (
    <dialog
      ref={element}
      class={more}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onEscape?.()
      }}
      onClose={({ currentTarget }) => {
        // Browsers close at a second Escape whatever the page says.
        if (onClose === undefined && currentTarget.isConnected) currentTarget.showModal()
      }}
    >
      <header class="dialog-head">
        <h2 id={id}>{title}</h2>
        {onClose && (
          <button type="button" class="quiet icon" aria-label="Close" onClick={onClose}>
            ✕
          </button>
        )}
      </header>
      {children}
    </dialog>
  )
}
