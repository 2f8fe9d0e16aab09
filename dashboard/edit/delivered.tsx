// Shows whether a message that somebody has sent arrived: the call went well in either case.
import { Dialog } from '../parts/dialog.tsx'
import { Fault } from '../parts/page.tsx'

export interface Delivery {
  readonly isDelivered: boolean
  /** Why it did not arrive, or not everywhere; empty: it did. */
  readonly fault: string
}

/** null: the answer says nothing of it. */
export function deliveryIn(body: unknown): Delivery | null {
  const { delivered, error } = (body ?? {}) as Readonly<Record<string, unknown>>
  if (typeof delivered !== 'boolean') return null
  return { isDelivered: delivered, fault: typeof error === 'string' ? error : '' }
}

export function Delivered({
  isDelivered,
  fault,
  onClose,
}: Delivery & { readonly onClose: () => void }) {
  return (
    <Dialog title={isDelivered ? 'It was delivered' : 'It was not delivered'} onClose={onClose}>
      <p role="status">
        {fault === '' ? 'Its receiver has taken the message.' : 'The node says why:'}
      </p>
      <Fault fault={fault} />
      <footer class="dialog-foot">
        <button type="button" class="primary" onClick={onClose}>
          Close
        </button>
      </footer>
    </Dialog>
  )
}
