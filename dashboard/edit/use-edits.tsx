// Opens the dialogs of edits that the caller's role permits.
import { useState } from 'preact/hooks'
import type { ComponentChildren } from 'preact'
import { useAct } from '../api/act.ts'
import { send, fill } from '../api/client.ts'
import type { Answer } from '../api/client.ts'
import { readDocument } from '../api/document.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Fault } from '../parts/page.tsx'
import { announce } from '../parts/announcer.tsx'
import { collectedFor } from './basket.ts'
import { Confirm } from './confirm.tsx'
import type { Confirming } from './confirm.tsx'
import { Editor } from './editor.tsx'
import { partOf } from './differences.ts'
import type { Editing } from './editor.tsx'
import { Delivered, deliveryIn } from './delivered.tsx'
import type { Delivery } from './delivered.tsx'
import { ShownOnce, secretIn } from './shown-once.tsx'
import type { Secret } from './shown-once.tsx'

interface Edit {
  readonly title: string
  /** `PATCH /api/v1/pools/{id}`. */
  readonly operation: string
  readonly ids?: Readonly<Record<string, string>>
  /** Path to read the object with its tag before the form opens. */
  readonly from?: string
  /** Field of the response that the form is about; left out: the whole. */
  readonly part?: string
  /** Fields with which the form begins. */
  readonly preset?: Readonly<Record<string, unknown>>
  readonly onDone?: () => void
}

export interface Edits {
  readonly edit: (edit: Edit) => void
  /** @param edit `word` is the text of the button */
  readonly confirm: (edit: Edit & { readonly word: string }) => void
  readonly dialogs: ComponentChildren
}

export function useEdits(): Edits {
  const [editing, setEditing] = useState<Editing | null>(null)
  const [confirming, setConfirming] = useState<Confirming | null>(null)
  const [secret, setSecret] = useState<Secret | null>(null)
  const [delivery, setDelivery] = useState<Delivery | null>(null)
  const { fault, setFault, act } = useAct()
  const close = (): void => {
    setEditing(null)
    setConfirming(null)
    setFault('')
  }
  const prepare = async (edit: Edit) => {
    const operation = (await readDocument()).get(edit.operation)
    if (operation === undefined) throw new Error(`the API has no ${edit.operation}`)
    const ids = edit.ids ?? {}
    const from = edit.from === undefined ? undefined : fill(edit.from, ids)
    const found = from === undefined ? null : await send(from)
    const onDone = ({ body }: Answer): void => {
      close()
      setSecret(secretIn(body))
      setDelivery(deliveryIn(body))
      announce(`Done: ${edit.title.replace(/\?$/, '')}.`)
      edit.onDone?.()
    }
    return { operation, ids, from, found, onDone, title: edit.title, onClose: close }
  }
  const edit = (wanted: Edit): void =>
    void act(async () => {
      const { from, found, ...parts } = await prepare(wanted)
      const { part = '' } = wanted
      const current = partOf(found?.body ?? null, part) as Editing['current']
      const readPath = from === undefined ? {} : { readPath: from }
      // The form continues from a collected edit.
      const waiting = collectedFor(parts.operation.method, fill(parts.operation.path, parts.ids))
      const preset = { ...(waiting?.body as Editing['preset']), ...wanted.preset }
      setEditing({ ...parts, ...readPath, part, preset, current, etag: found?.etag ?? '' })
    })
  const confirm = (wanted: Edit & { readonly word: string }): void =>
    void act(async () => {
      const { found, from: readPath = '', ...parts } = await prepare(wanted)
      const { part = '', word } = wanted
      const current = partOf(found?.body ?? null, part) as Confirming['current']
      setConfirming({ ...parts, word, current, readPath, part, etag: found?.etag ?? '' })
    })
  const dialogs = (
    <>
      {editing && <Editor {...editing} />}
      {confirming && <Confirm {...confirming} />}
      {secret && <ShownOnce {...secret} onClose={() => setSecret(null)} />}
      {delivery && <Delivered {...delivery} onClose={() => setDelivery(null)} />}
      {fault !== '' && (
        <Dialog title="That did not work" onClose={close}>
          <Fault fault={fault} />
        </Dialog>
      )}
    </>
  )
  return { edit, confirm, dialogs }
}
