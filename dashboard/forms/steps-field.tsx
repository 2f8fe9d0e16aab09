// The field for a list of steps, such as a filter chain: each is added, moved, set and removed.
import type { FunctionComponent } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Schema, StepKind } from '../api/schema.ts'
import { labelOf, withoutMarks } from '../parts/formats.ts'
import { refusalsWithin } from './inner-fields.ts'
import type { FieldsProps } from './inner-fields.ts'
import { endBefore, kindsOf, moved, optionOf, placeAt, stepOf, textOfStep } from './steps.ts'
import type { Step } from './steps.ts'
import type { FieldRefusal } from '../yaml/refusal.ts'

interface StepsProps {
  readonly name: string
  readonly schema: Schema
  readonly value: unknown
  /** What the API has said of the steps, by their numbers from 0. */
  readonly inner: readonly FieldRefusal[]
  readonly onChange: (value: unknown) => void
  /** The form of the options of a step. */
  readonly Form: FunctionComponent<FieldsProps>
}

/** What has the focus after a change: a button of a step, or what can be set in it. */
interface Wanted {
  readonly at: number
  readonly part: 'up' | 'down' | 'step'
}

export function StepsField({ name, schema, value, inner, onChange, Form }: StepsProps) {
  const kinds = kindsOf(schema)
  const texts: readonly unknown[] = Array.isArray(value) ? value : []
  const steps = texts.map((text) => stepOf(text, kinds))
  const list = useRef<HTMLOListElement>(null)
  const adder = useRef<HTMLButtonElement>(null)
  const [message, setMessage] = useState('')
  const [wanted, setWanted] = useState<Wanted | null>(null)
  useLayoutEffect(() => {
    if (wanted === null) return
    const item = list.current?.children[wanted.at]
    if (item === undefined) adder.current?.focus()
    else focusIn(item, wanted.part)
  }, [wanted])
  const change = (now: readonly unknown[], words: string, next: Wanted): void => {
    onChange(now)
    setMessage(words)
    setWanted(next)
  }
  const move = (from: number, to: number, part: Wanted['part']): void => {
    if (to < 0 || to >= texts.length || to === from) return
    const words = `${steps[from]!.name} is now step ${to + 1} of ${texts.length}.`
    change(moved(texts, from, to), words, { at: to, part })
  }
  const remove = (at: number): void => {
    const next = { at: Math.min(at, texts.length - 2), part: 'step' } as const
    change(texts.toSpliced(at, 1), `${steps[at]!.name} is removed.`, next)
  }
  const add = (kind: StepKind): void => {
    const words = `${kind.name} is now step ${texts.length + 1}.`
    const now = [...texts, textOfStep(kind.name, kind, {})]
    change(now, words, { at: texts.length, part: 'step' })
  }
  const drag = useDrag(list, (from, to) => move(from, to, 'step'))
  return (
    <>
      <ol class="plain chain" ref={list} aria-label={labelOf(name)}>
        {steps.map((step, i) => (
          <li key={i} tabIndex={-1} class={drag.classOf(i)}>
            <StepHead
              {...{ step, at: i, count: steps.length, remove, grip: drag.gripOf(i) }}
              move={(by) => move(i, i + by, by < 0 ? 'up' : 'down')}
            />
            <StepBody
              {...{ step, Form, end: endBefore(steps, i) }}
              sentence={refusalsWithin(inner, String(i)).sentence}
              onChange={(text) => onChange(texts.with(i, text))}
            />
          </li>
        ))}
      </ol>
      <Adder
        {...{ kinds, add, button: adder }}
        isFull={texts.length >= (schema.maxItems ?? Infinity)}
      />
      <div class="visually-hidden" role="status">
        {message}
      </div>
    </>
  )
}

function focusIn(item: Element, part: Wanted['part']): void {
  const find = (selector: string) => item.querySelector<HTMLElement>(selector)
  const same = part === 'step' ? find('textarea, input, select') : find(`.${part}:enabled`)
  // At an end of the list the button of the same direction is off.
  const next = same ?? (part === 'step' ? null : find('.up:enabled, .down:enabled'))
  ;(next ?? (item as HTMLElement)).focus()
}

interface Grip {
  readonly onPointerDown: (event: PointerEvent) => void
  readonly onPointerMove: (event: PointerEvent) => void
  readonly onPointerUp: () => void
  readonly onLostPointerCapture: () => void
}

/** By mouse, pen and finger; who has none of them moves by the buttons. */
function useDrag(
  list: { readonly current: Element | null },
  move: (from: number, to: number) => void,
) {
  const [drag, setDrag] = useState<{ readonly from: number; readonly to: number } | null>(null)
  const gripOf = (from: number): Grip => ({
    onPointerDown: (event) => {
      event.preventDefault()
      ;(event.currentTarget as Element).setPointerCapture(event.pointerId)
      setDrag({ from, to: from })
    },
    onPointerMove: ({ clientY }) => {
      if (drag === null) return
      const boxes = [...(list.current?.children ?? [])].map((one) => one.getBoundingClientRect())
      const middles = boxes.map(({ top, height }) => top + height / 2)
      setDrag({ from, to: placeAt(middles, from, clientY) })
    },
    onPointerUp: () => {
      if (drag !== null) move(drag.from, drag.to)
      setDrag(null)
    },
    onLostPointerCapture: () => setDrag(null),
  })
  const classOf = (at: number): string => {
    if (drag === null) return ''
    if (at === drag.from) return 'dragged'
    if (at !== drag.to) return ''
    return drag.to < drag.from ? 'drop-before' : 'drop-after'
  }
  return { gripOf, classOf }
}

interface HeadProps {
  readonly step: Step
  readonly at: number
  readonly count: number
  readonly grip: Grip
  /** @param by -1: up */
  readonly move: (by: -1 | 1) => void
  readonly remove: (at: number) => void
}

function StepHead({ step: { name }, at, count, grip, move, remove }: HeadProps) {
  const words = `step ${at + 1}, ${name.slice(0, 40)}`
  const small = { type: 'button', class: 'small' } as const
  return (
    <div class="split">
      <span class="row">
        <span class="grip" aria-hidden="true" title="Drag to move" {...grip} />
        <strong>
          {at + 1}. {name}
        </strong>
      </span>
      <span class="row">
        <button
          {...{ type: 'button', class: 'small up', disabled: at === 0 }}
          aria-label={`Move ${words}, up`}
          onClick={() => move(-1)}
        >
          ↑
        </button>
        <button
          {...{ type: 'button', class: 'small down', disabled: at === count - 1 }}
          aria-label={`Move ${words}, down`}
          onClick={() => move(1)}
        >
          ↓
        </button>
        <button {...small} aria-label={`Remove ${words}`} onClick={() => remove(at)}>
          Remove
        </button>
      </span>
    </div>
  )
}

interface BodyProps {
  readonly step: Step
  /** The step that ends the chain before this one is reached. */
  readonly end: Step | undefined
  readonly sentence: string
  readonly Form: FunctionComponent<FieldsProps>
  readonly onChange: (text: string) => void
}

function StepBody({ step: { name, kind, draft }, end, sentence, Form, onChange }: BodyProps) {
  const option = optionOf(kind)
  const settings = kind?.settings ?? ''
  const isSet = kind?.options !== undefined && option !== undefined
  return (
    <>
      <p class="hint">
        {kind === undefined
          ? 'This node knows no such step.'
          : withoutMarks(`${kind.description}${settings === '' ? '' : `; goes by ${settings}`}`)}
      </p>
      {end !== undefined && <p class="hint">Never reached: {end.name} ends the chain.</p>}
      {isSet && (
        <Form
          {...{ schema: kind.options, draft, isNeeded: true }}
          refusals={sentence === '' ? [] : [{ field: option, sentence }]}
          onChange={(now) => onChange(textOfStep(name, kind, now))}
        />
      )}
      {!isSet && sentence !== '' && <p class="fault">{sentence}</p>}
    </>
  )
}

interface AdderProps {
  readonly kinds: readonly StepKind[]
  readonly add: (kind: StepKind) => void
  readonly isFull: boolean
  readonly button: preact.RefObject<HTMLButtonElement | null>
}

function Adder({ kinds, add, isFull, button }: AdderProps) {
  const id = useId()
  const [isOpen, setOpen] = useState(false)
  return (
    <div
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !isOpen) return
        // Else the dialog around it would hear of it.
        event.preventDefault()
        setOpen(false)
        button.current?.focus()
      }}
    >
      <button
        {...{ type: 'button', class: 'small', ref: button, disabled: isFull }}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        Add a step
      </button>
      <ul class="plain kinds" id={id} hidden={!isOpen}>
        {kinds.map((kind) => (
          <li key={kind.name}>
            <button
              type="button"
              class="quiet"
              onClick={() => {
                setOpen(false)
                add(kind)
              }}
            >
              <strong>{kind.name}</strong>
              <span class="hint">{withoutMarks(kind.description)}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  )
}
