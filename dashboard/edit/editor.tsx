// The editor of an object, in three steps: a form, the effect of the change, the commit.
import { useRef, useState } from 'preact/hooks'
import { useAct } from '../api/act.ts'
import { Refusal, fill, send, typeOf } from '../api/client.ts'
import type { Answer } from '../api/client.ts'
import type { Operation } from '../api/document.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Code, Copy, Fault, Notice } from '../parts/page.tsx'
import { labelOf, yamlOf } from '../parts/formats.ts'
import { Answers } from './answers.tsx'
import { collect, collectedFor, mayCollect } from './basket.ts'
import { CollectButton } from './collect-button.tsx'
import { DifferenceTable } from './difference-table.tsx'
import { differencesOf, isSame, merged, partOf } from './differences.ts'
import { FormOrYaml, nothingWritten } from './form-or-yaml.tsx'
import type { Draft } from '../forms/schema-form.tsx'
import { SubjectField } from './subject.tsx'

export interface Editing {
  readonly title: string
  readonly operation: Operation
  readonly ids: Readonly<Record<string, string>>
  /** The present object; null: it does not exist yet. */
  readonly current: Draft | null
  readonly etag: string
  /** Field of the response with the object; empty: the response is the object. */
  readonly part: string
  /** Fields with which the form begins, instead of the present ones. */
  readonly preset: Draft
  /** Path to read the object again, for changes of others. */
  readonly readPath?: string
  readonly onClose: () => void
  readonly onDone: (answer: Answer) => void
}

/** The API's response to a dry run, with its warnings. */
interface Review {
  readonly after: Draft
  readonly warnings: readonly string[]
  readonly affected: readonly string[]
  readonly effect: string
}

interface Conflict {
  readonly theirs: Draft
  readonly etag: string
  /** What this editor goes on with: fields that only the other one has changed stay. */
  readonly mine: Draft
}

/** State of the dialog, and the actions of its buttons. */
function useChange(editing: Editing) {
  const { operation, ids, current, readPath, part, onDone } = editing
  const [base, setBase] = useState({ object: current, etag: editing.etag })
  const [draft, setDraft] = useState<Draft>(() => ({
    ...startOf(operation, current),
    ...editing.preset,
  }))
  const [review, setReview] = useState<Review | null>(null)
  const [conflict, setConflict] = useState<Conflict | null>(null)
  const { isBusy, fault, setFault, act } = useAct()
  const [subject, setSubject] = useState('')
  const [written, setWritten] = useState(nothingWritten)
  const path = fill(operation.path, ids)
  const body = bodyOf(operation, base.object, draft)

  const ask = (isDryRun: boolean) =>
    act(async () => {
      try {
        const { method } = operation
        const answer = await send(path, { method, body, ifMatch: base.etag, isDryRun, subject })
        if (!isDryRun) return onDone(answer)
        const { warnings, affected, effect } = answer
        const after = partOf(answer.body ?? {}, part) as Draft
        setReview({ after, warnings, affected, effect })
      } catch (error) {
        const isOverrun = error instanceof Refusal && error.status === 412
        if (!isOverrun || readPath === undefined) throw error
        await meet(readPath)
      }
    })
  const check = (wanted: Draft): Promise<string> =>
    refusalOf(operation, path, bodyOf(operation, base.object, wanted), base.etag)
  const meet = async (from: string): Promise<void> => {
    const { body: found, etag } = await send(from)
    const theirs = partOf(found, part) as Draft
    const mine = merged(draft, startOf(operation, base.object), startOf(operation, theirs))
    setReview(null)
    setConflict({ theirs, etag, mine })
  }
  const settle = (isMine: boolean): void => {
    if (conflict === null) return
    setBase({ object: conflict.theirs, etag: conflict.etag })
    setDraft(isMine ? conflict.mine : startOf(operation, conflict.theirs))
    setWritten(nothingWritten)
    setConflict(null)
  }
  const addToBasket = (): void => {
    if (review === null) return
    const { after } = review
    const { title, onClose } = editing
    const of = { title, method: operation.method, path, body, part, before: base.object, after }
    collect({ ...of, ifMatch: base.etag, readPath: readPath ?? '' })
    onClose()
  }
  const state = { base, draft, setDraft, review, setReview, conflict, settle, subject, setSubject }
  const yaml = { written, setWritten, check }
  return { ...state, ...yaml, fault, setFault, isBusy, path, body, ask, addToBasket }
}

/** The object is invalid, or its name is taken. */
const faultyBody: ReadonlySet<number> = new Set([400, 409, 422])

/** Why the node would refuse a body; empty: it would not, or cannot be asked. */
async function refusalOf(
  { method, takesDryRun }: Operation,
  path: string,
  body: Draft,
  ifMatch: string,
): Promise<string> {
  if (!takesDryRun) return ''
  return send(path, { method, body, ifMatch, isDryRun: true }).then(
    () => '',
    (error: unknown) =>
      error instanceof Refusal && faultyBody.has(error.status) ? error.message : '',
  )
}

export function Editor(editing: Editing) {
  const { title, operation, onClose } = editing
  const change = useChange(editing)
  const { base, draft, setDraft, review, setReview, conflict, settle } = change
  const { fault, setFault, isBusy, path, body, ask, subject, setSubject, addToBasket } = change
  const { written, setWritten, check } = change
  const begun = useRef(draft)
  const [isWarned, setWarned] = useState(false)
  const escape = (): void =>
    isSame(begun.current, draft) || isWarned ? onClose() : setWarned(true)
  return (
    <Dialog title={title} onClose={onClose} onEscape={escape} class="wide">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (written.fault !== '') setFault(written.fault)
          else void ask(operation.takesDryRun && review === null)
        }}
      >
        {conflict !== null ? (
          <ConflictView {...{ conflict, settle }} current={base.object ?? {}} />
        ) : review !== null ? (
          <ReviewView
            {...{ review, operation, path, body, before: base.object, etag: base.etag }}
            {...{ subject, setSubject }}
          />
        ) : (
          <FormOrYaml
            {...{ draft, written, check, refusal: fault }}
            onChange={(now) => {
              // The fault belonged to the draft before.
              if (!isSame(now, draft)) setFault('')
              setDraft(now)
            }}
            setWritten={(now) => {
              if (now.value === null || now.fault !== written.fault) setFault('')
              setWritten(now)
            }}
            schema={operation.body ?? {}}
          />
        )}
        <Fault fault={fault} />
        {isWarned && (
          <p class="hint" role="status">
            Escape once more drops what you have written.
          </p>
        )}
        {conflict === null && (
          <footer class="dialog-foot">
            {review !== null && (
              <button type="button" onClick={() => setReview(null)}>
                Back to the form
              </button>
            )}
            {review !== null && mayCollect(operation) && (
              <CollectButton
                collect={addToBasket}
                isAgain={collectedFor(operation.method, path) !== undefined}
              />
            )}
            <button type="submit" class="primary" disabled={isBusy}>
              {isBusy ? 'Asking the node …' : wordOf(operation, review !== null)}
            </button>
          </footer>
        )}
      </form>
    </Dialog>
  )
}

function wordOf(operation: Operation, isReviewed: boolean): string {
  if (!operation.takesDryRun) return 'Save'
  return isReviewed ? 'Commit' : 'Review the change'
}

/** Written values of the form's fields; a rollout may show others. */
function startOf({ body }: Operation, current: Draft | null): Draft {
  if (current === null) return {}
  const names = Object.keys(body?.properties ?? {})
  const found = names.map((name) => [name, declaredOf(current, name)] as const)
  return Object.fromEntries(found.filter(([, value]) => value !== undefined))
}

function declaredOf(current: Draft, name: string): unknown {
  return current[`declared${name.charAt(0).toUpperCase()}${name.slice(1)}`] ?? current[name]
}

/** A PATCH has the differences; other bodies are whole. */
function bodyOf(operation: Operation, current: Draft | null, draft: Draft): Draft {
  const tidy = Object.fromEntries(
    Object.entries(draft).map(([name, value]) => [name, withoutBlanks(value)]),
  )
  if (operation.method !== 'PATCH' || current === null) return tidy
  const start = startOf(operation, current)
  const names = new Set([...Object.keys(start), ...Object.keys(tidy)])
  const changed = [...names].filter((name) => !isSame(start[name], tidy[name]))
  return Object.fromEntries(changed.map((name) => [name, tidy[name] ?? null]))
}

/** Removes empty lines of lists. */
const withoutBlanks = (value: unknown): unknown =>
  Array.isArray(value) && value.every((one) => typeof one === 'string')
    ? value.filter((one) => one.trim() !== '')
    : value

interface ReviewProps {
  readonly review: Review
  readonly operation: Operation
  readonly path: string
  readonly body: Draft
  readonly before: Draft | null
  readonly etag: string
  readonly subject: string
  readonly setSubject: (subject: string) => void
}

function ReviewView(props: ReviewProps) {
  const { review, operation, path, body, before, etag, subject, setSubject } = props
  const rows = differencesOf(before ?? {}, review.after)
  const yaml = yamlOf(review.after).trim()
  return (
    <div class="review">
      {rows.length === 0 ? (
        <Notice tone="info">Nothing differs from what is there.</Notice>
      ) : (
        <DifferenceTable rows={rows} />
      )}
      {review.warnings.length > 0 && <Sentences tone="warn" lines={review.warnings.slice(0)} />}
      {review.affected.length > 0 && <Sentences tone="bad" lines={review.affected} />}
      {review.effect !== '' && (
        <Notice tone="info">
          <strong>Effect:</strong> {review.effect}
        </Notice>
      )}
      <Answers
        word="Which answers change?"
        writes={[
          { method: operation.method, path, body, ...(etag === '' ? {} : { ifMatch: etag }) },
        ]}
      />
      <details open>
        <summary>As YAML</summary>
        <Code name="The object as YAML" text={yaml} />
      </details>
      <div class="row">
        <Copy text={yaml}>Copy as YAML</Copy>
        <Copy text={curlOf(operation.method, path, body, etag, subject)}>Copy as curl</Copy>
      </div>
      {operation.takesSubject && <SubjectField value={subject} onChange={setSubject} />}
    </div>
  )
}

export function Sentences({ tone, lines }: { tone: 'warn' | 'bad'; lines: readonly string[] }) {
  return (
    <Notice tone={tone}>
      <ul>
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </Notice>
  )
}

export function curlOf(
  method: string,
  path: string,
  body: unknown,
  etag: string,
  subject = '',
): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
  return [
    `curl -s -X ${method} ${quoted(location.origin + path)}`,
    '-H "Authorization: Bearer $GSLB_API_KEY"',
    ...(etag === '' ? [] : [`-H ${quoted(`If-Match: ${etag}`)}`]),
    ...(subject === '' ? [] : [`-H ${quoted(`X-Gslb-Subject: ${subject}`)}`]),
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: ${typeOf(method)}'`, `-d ${quoted(JSON.stringify(body))}`]),
  ].join(' \\\n  ')
}

interface ConflictProps {
  readonly conflict: Conflict
  readonly current: Draft
  readonly settle: (isMine: boolean) => void
}

/** Shows the version of a faster editor beside this one, to choose from. */
function ConflictView({ conflict, current, settle }: ConflictProps) {
  const { theirs, mine } = conflict
  const rows = differencesOf(theirs, { ...theirs, ...mine })
  const changed = differencesOf(current, theirs).map(({ field }) => labelOf(field))
  return (
    <div class="review">
      <Notice tone="warn">
        <p>
          <strong>Somebody changed this while you were at work.</strong>{' '}
          {changed.length > 0
            ? `They changed: ${changed.join(', ')}.`
            : 'They changed none of these fields, but what belongs to it, such as a member.'}{' '}
          Nothing of yours is lost.
        </p>
      </Notice>
      {rows.length === 0 ? (
        <Notice tone="info">It is as you want it already.</Notice>
      ) : (
        <DifferenceTable rows={rows} before="As it is now" after="Yours" />
      )}
      <footer class="dialog-foot">
        <button type="button" onClick={() => settle(false)}>
          Take theirs
        </button>
        <button type="button" class="primary" onClick={() => settle(true)}>
          Go on with mine
        </button>
      </footer>
    </div>
  )
}
