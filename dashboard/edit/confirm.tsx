// Asks before something goes or is set off, with what goes along where the API can say it.
import { useEffect, useState } from 'preact/hooks'
import { fill, send, sentence } from '../api/client.ts'
import type { Operation } from '../api/document.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Copy, Fault, Notice } from '../parts/page.tsx'
import { Sentences, curlOf } from './editor.tsx'

export interface Confirming {
  readonly title: string
  readonly word: string
  readonly operation: Operation
  readonly ids: Readonly<Record<string, string>>
  readonly etag: string
  readonly onClose: () => void
  readonly onDone: () => void
}

export function Confirm(parts: Confirming) {
  const { title, word, operation, ids, etag, onClose, onDone } = parts
  const [affected, setAffected] = useState<readonly string[]>([])
  const [effect, setEffect] = useState('')
  const [fault, setFault] = useState('')
  const [isBusy, setBusy] = useState(false)
  const path = fill(operation.path, ids)
  const { method } = operation
  useEffect(() => {
    if (!operation.takesDryRun) return
    send(path, { method, ifMatch: etag, isDryRun: true }).then(
      (answer) => {
        setAffected(answer.affected)
        setEffect(answer.effect)
      },
      (error: unknown) => setFault(sentence(error)),
    )
  }, [path])
  const confirm = async (): Promise<void> => {
    setBusy(true)
    setFault('')
    try {
      await send(path, { method, ifMatch: etag })
      onDone()
    } catch (error) {
      setFault(sentence(error))
      setBusy(false)
    }
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{operation.summary}.</p>
      {affected.length > 0 && <Sentences tone="warn" lines={affected.slice(0)} />}
      {effect !== '' && (
        <Notice tone="info">
          <strong>Effect:</strong> {effect}
        </Notice>
      )}
      <Fault text={fault} />
      <footer class="dialog-foot">
        <Copy text={curlOf(method, path, undefined, etag)}>Copy as curl</Copy>
        <button type="button" onClick={onClose}>
          Leave it
        </button>
        <button
          type="button"
          class={method === 'DELETE' ? 'danger' : 'primary'}
          disabled={isBusy}
          onClick={() => void confirm()}
        >
          {word}
        </button>
      </footer>
    </Dialog>
  )
}
