// A button for a call of the API or, where the licence does not have the call, the reason.
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

/** Nothing, where the role or the API has no such call. */
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
