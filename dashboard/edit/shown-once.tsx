// Shows a secret that the API answers this once, until somebody has kept it.
import { labelOf } from '../parts/formats.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Code, Copy } from '../parts/page.tsx'

export interface Secret {
  readonly name: string
  readonly text: string
}

/** Fields that are in the answer to a write alone. */
const fields = ['apiKey', 'secret'] as const

/** null: the answer has none. */
export function secretIn(body: unknown): Secret | null {
  const answer = (body ?? {}) as Readonly<Record<string, unknown>>
  const field = fields.find((name) => typeof answer[name] === 'string' && answer[name] !== '')
  return field === undefined ? null : { name: labelOf(field), text: String(answer[field]) }
}

/** Neither Escape nor a click beside it closes it. */
export function ShownOnce({ name, text, onClose }: Secret & { readonly onClose: () => void }) {
  return (
    <Dialog title={name}>
      <p>Keep it now: it is shown this once, and the node does not tell it again.</p>
      <Code name={name} text={text} />
      <footer class="dialog-foot">
        <Copy text={text} />
        <button type="button" class="primary" onClick={onClose}>
          I have kept it
        </button>
      </footer>
    </Dialog>
  )
}
