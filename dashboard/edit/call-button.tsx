// A button for a call of the API, or the reason why the licence does not permit it.
import type { ComponentChildren } from 'preact'
import { operations } from '../api/document.ts'
import { can, lackOf } from '../api/session.ts'

interface OfferProps {
  /** `POST /api/v1/rollouts`. */
  readonly operation: string
  readonly isPrimary?: boolean
  readonly onClick: () => void
  readonly children: ComponentChildren
}

/** Nothing, when the role or the API lacks the call. */
export function Offer({ operation, isPrimary = false, onClick, children }: OfferProps) {
  const found = operations.value?.get(operation)
  if (found === undefined || !can(found.needs)) return null
  const lack = lackOf(found.licensed)
  if (lack !== '') return <Lack text={lack} />
  return (
    <button type="button" class={isPrimary ? 'primary' : ''} onClick={onClick}>
      {children}
    </button>
  )
}

function Lack({ text }: { text: string }) {
  return (
    <p class="lack" role="note">
      {text.charAt(0).toUpperCase() + text.slice(1)}.
    </p>
  )
}
