// The dialog of collected edits: what each writes, what all would do, and the one commit.
import { useEffect, useState } from 'preact/hooks'
import { useAct } from '../api/act.ts'
import { Refusal, send } from '../api/client.ts'
import type { Answer } from '../api/client.ts'
import { to } from '../parts/location.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Badge, Code, Copy, Fault, Notice } from '../parts/page.tsx'
import { countOf, yamlOf } from '../parts/formats.ts'
import { Answers } from './answers.tsx'
import { basket, drop, replace, requestOf } from './basket.ts'
import type { Collected } from './basket.ts'
import { DifferenceTable } from './difference-table.tsx'
import { differencesOf, partOf } from './differences.ts'
import { Sentences, curlOf } from './editor.tsx'
import type { Draft } from '../forms/schema-form.tsx'
import { SubjectField } from './subject.tsx'

const path = '/api/v1/commits'

/** The object as somebody else has changed it since the edit began; null: it was deleted. */
interface Overrun {
  readonly theirs: Draft | null
  readonly etag: string
}

async function overrunOf(edit: Collected): Promise<Overrun | undefined> {
  const { readPath, part, ifMatch = '' } = edit
  if (readPath === '' || ifMatch === '') return undefined
  try {
    const { body, etag } = await send(readPath)
    return etag === ifMatch ? undefined : { theirs: partOf(body, part) as Draft, etag }
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return { theirs: null, etag: '' }
    throw error
  }
}

/** State of the dialog, and the actions of its buttons. */
function useBasket() {
  const edits = basket.value
  const [review, setReview] = useState<Answer | null>(null)
  const [done, setDone] = useState<Answer | null>(null)
  const { isBusy, fault, act } = useAct()
  const [overruns, setOverruns] = useState<ReadonlyMap<Collected, Overrun>>(new Map())
  const body = { requests: edits.map(requestOf) }

  const meet = async (): Promise<void> => {
    const found = await Promise.all(edits.map(async (one) => [one, await overrunOf(one)] as const))
    const met = found.flatMap(([one, overrun]) => (overrun ? [[one, overrun] as const] : []))
    setOverruns(new Map(met))
  }
  const ask = (isDryRun: boolean, subject = '') =>
    act(async () => {
      try {
        const answer = await send(path, { method: 'POST', body, isDryRun, subject })
        if (isDryRun) return setReview(answer)
        setDone(answer)
        basket.value = []
      } catch (error) {
        setReview(null)
        if (error instanceof Refusal && [404, 412].includes(error.status)) await meet()
        throw error
      }
    })
  useEffect(() => {
    setOverruns(new Map())
    if (edits.length > 0) void ask(true)
  }, [edits])
  return { edits, body, review, done, fault, isBusy, overruns, ask }
}

export function BasketDialog({ onClose }: { onClose: () => void }) {
  const { edits, body, review, done, fault, isBusy, overruns, ask } = useBasket()
  const [subject, setSubject] = useState('')
  if (done !== null) return <Done {...{ done, onClose }} />
  return (
    <Dialog title="One commit" onClose={onClose} class="wide">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void ask(false, subject)
        }}
      >
        <div class="review">
          {edits.length === 0 && <p>Nothing is collected any more.</p>}
          <ol class="plain collected">
            {edits.map((edit, i) => (
              <CollectedItem
                key={`${edit.method} ${edit.path} ${i}`}
                {...{ edit, overrun: overruns.get(edit) }}
                isRefused={fault.startsWith(`requests.${i}: `)}
              />
            ))}
          </ol>
          <Fault fault={fault.replace(/^requests\.(\d+): /, (_, i) => `Edit ${Number(i) + 1}: `)} />
          {review !== null && <Effects review={review} />}
          {review !== null && <Answers word="Which answers change?" writes={body.requests} />}
          {edits.length > 0 && <SubjectField value={subject} onChange={setSubject} />}
        </div>
        {edits.length > 0 && (
          <footer class="dialog-foot">
            <Copy text={curlOf('POST', path, body, '', subject)}>Copy as curl</Copy>
            <button type="submit" class="primary" disabled={isBusy || review === null}>
              {isBusy ? 'Asking the node …' : `Commit ${countOf(edits.length, 'edit')}`}
            </button>
          </footer>
        )}
      </form>
    </Dialog>
  )
}

function Effects({ review }: { review: Answer }) {
  const { warnings, affected, effect } = review
  return (
    <>
      {warnings.length > 0 && <Sentences tone="warn" lines={warnings} />}
      {affected.length > 0 && <Sentences tone="bad" lines={affected} />}
      {effect !== '' && (
        <Notice tone="info">
          <strong>Effect of all:</strong> {effect}
        </Notice>
      )}
    </>
  )
}

function Done({ done, onClose }: { done: Answer; onClose: () => void }) {
  const { commit } = done.body as { readonly commit: string }
  return (
    <Dialog title="Committed" onClose={onClose}>
      <p role="status">
        All of it is in{' '}
        <a href={to(`/changes/${commit}`)} onClick={onClose}>
          commit {commit.slice(0, 10)}
        </a>{' '}
        and answers already.
      </p>
      <footer class="dialog-foot">
        <button type="button" class="primary" onClick={onClose}>
          Close
        </button>
      </footer>
    </Dialog>
  )
}

interface ItemProps {
  readonly edit: Collected
  readonly isRefused: boolean
  readonly overrun: Overrun | undefined
}

const kinds: Readonly<Record<string, string>> = { POST: 'new', DELETE: 'goes' }

function CollectedItem({ edit, isRefused, overrun }: ItemProps) {
  const { title, method, before, after } = edit
  return (
    <li class="stack">
      <div class="row">
        <h3>{title}</h3>
        {kinds[method] !== undefined && (
          <Badge tone={method === 'DELETE' ? 'bad' : 'good'}>{kinds[method]}</Badge>
        )}
        {isRefused && <Badge tone="bad">refused</Badge>}
        <span class="grow" />
        <button
          {...{ type: 'button', class: 'small', onClick: () => drop(edit) }}
          aria-label={`Drop: ${title}`}
        >
          Drop
        </button>
      </div>
      {overrun !== undefined ? (
        <OverrunView {...{ edit, overrun }} />
      ) : (
        after !== null && <DifferenceTable rows={differencesOf(before ?? {}, after)} />
      )}
      {after !== null && (
        <details>
          <summary>As YAML</summary>
          <Code name={`${title} as YAML`} text={yamlOf(after).trim()} />
        </details>
      )}
    </li>
  )
}

/** Shows both versions, to choose from. */
function OverrunView({ edit, overrun }: { edit: Collected; overrun: Overrun }) {
  const { theirs, etag } = overrun
  if (theirs === null) {
    return <Notice tone="warn">Somebody has deleted this since. Drop the edit.</Notice>
  }
  const isGoing = edit.method === 'DELETE'
  const mine = isGoing ? null : { ...theirs, ...(edit.body as Draft) }
  const goOn = (): void => replace(edit, { ...edit, before: theirs, after: mine, ifMatch: etag })
  return (
    <div class="stack">
      <Notice tone="warn">
        <strong>Somebody changed this since the edit began.</strong> Nothing of yours is lost.
      </Notice>
      {mine === null ? (
        <DifferenceTable
          {...{ rows: differencesOf(edit.before ?? {}, theirs), before: 'When you looked' }}
          after="As it is now"
        />
      ) : (
        <DifferenceTable
          {...{ rows: differencesOf(theirs, mine), before: 'As it is now', after: 'Yours' }}
        />
      )}
      <div class="row">
        <button type="button" class="small" onClick={() => drop(edit)}>
          Take theirs
        </button>
        <button type="button" class="small" onClick={goOn}>
          Go on with mine
        </button>
      </div>
    </div>
  )
}
