// Asks before a deletion or an action, and names the consequences that the API reports.
import { useEffect, useState } from 'preact/hooks'
import { useAct } from '../api/act.ts'
import { fill, send, sentence } from '../api/client.ts'
import type { Answer } from '../api/client.ts'
import type { Operation } from '../api/document.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Copy, Fault, Notice } from '../parts/page.tsx'
import { collect, collectedFor, mayCollect } from './basket.ts'
import { CollectButton } from './collect-button.tsx'
import { Sentences, curlOf } from './editor.tsx'
import type { Draft } from '../forms/schema-form.tsx'
import { SubjectField } from './subject.tsx'

export interface Confirming {
  readonly title: string
  readonly word: string
  readonly operation: Operation
  readonly ids: Readonly<Record<string, string>>
  readonly etag: string
  /** The present object; null: unknown. */
  readonly current: Draft | null
  readonly readPath: string
  readonly part: string
  readonly onClose: () => void
  readonly onDone: (answer: Answer) => void
}

export function Confirm(parts: Confirming) {
  const { title, word, operation, ids, etag, onClose, onDone } = parts
  const [affected, setAffected] = useState<readonly string[]>([])
  const [effect, setEffect] = useState('')
  const { isBusy, fault, setFault, act } = useAct()
  const [subject, setSubject] = useState('')
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
  const confirm = () =>
    act(async () => onDone(await send(path, { method, ifMatch: etag, subject })))
  const addToBasket = (): void => {
    const { current: before, readPath, part } = parts
    collect({ title, method, path, before, after: null, readPath, part, ifMatch: etag })
    onClose()
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
      <Fault fault={fault} />
      {operation.takesSubject && <SubjectField value={subject} onChange={setSubject} />}
      <footer class="dialog-foot">
        <Copy text={curlOf(method, path, undefined, etag, subject)}>Copy as curl</Copy>
        <button type="button" onClick={onClose}>
          Leave it
        </button>
        {method === 'DELETE' && mayCollect(operation) && (
          <CollectButton
            {...{ collect: addToBasket, isAgain: collectedFor(method, path) !== undefined }}
          />
        )}
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
