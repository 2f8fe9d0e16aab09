// Edits an object as YAML: completion by its schema, and the API's sentences at their lines.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Schema } from '../api/schema.ts'
import { thingsFor, labelOfId } from '../api/object-names.ts'
import { isDark } from '../parts/theme.ts'
import { openCode } from './code-editor.ts'
import type { CodeEditor } from './code-editor.ts'
import { offersAt } from './completions.ts'
import { read } from './parse-text.ts'
import type { Fault } from './parse-text.ts'
import { refusalsOf } from './refusal.ts'

type Value = Readonly<Record<string, unknown>>

export interface YamlFieldProps {
  /** The editor begins with it, and from then on it is what the editor has said last. */
  readonly text: string
  readonly schema: Schema
  /** Shown while there is nothing. */
  readonly example: string
  /** What the API has said of the object, when it was last sent; empty: nothing. */
  readonly refusal: string
  /** What the API would say of it; empty: nothing. */
  readonly check: (value: Value) => Promise<string>
  /** @param value null: it cannot be read, because of `fault` */
  readonly onText: (text: string, value: Value | null, fault: string) => void
}

const pauseMs = 700
const hint = 'Control and space offer what fits. Tab indents; to leave, press Escape, then Tab.'

export function YamlField(props: YamlFieldProps) {
  const { text, schema, refusal, check } = props
  const editor = useRef<CodeEditor | null>(null)
  const [said, setSaid] = useState({ text: '', refusal: '' })
  const reading = useMemo(() => read(text), [text])
  const sentence = said.text === text ? said.refusal : refusal
  const faults = useMemo(() => faultsOf(reading, schema, sentence), [reading, schema, sentence])
  const latest = useRef(props)
  latest.current = props
  const host = useRef<HTMLDivElement>(null)

  useEffect(() => {
    const opened = openCode(host.current!, {
      ...{ text, hint, label: 'The object as YAML', example: props.example },
      isDark: isDark.value,
      wordsOf: labelOfId,
      offersAt: (all, at) => offersAt(all, at, latest.current.schema, thingsFor),
      onText: (now) => {
        const { value, faults: broken } = read(now)
        latest.current.onText(now, value, broken.map(faultText)[0] ?? '')
      },
    })
    editor.current = opened
    return () => opened.close()
  }, [])
  useEffect(() => editor.current?.setFaults(faults), [faults])
  useEffect(() => editor.current?.setDark(isDark.value), [isDark.value])
  const begun = useRef(text)
  useEffect(() => {
    if (text === begun.current || reading.value === null) return
    let isCurrent = true
    const { value } = reading
    const timer = setTimeout(() => {
      void check(value).then((found) => isCurrent && setSaid({ text, refusal: found }))
    }, pauseMs)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [text])
  return (
    <div class="yaml">
      <div ref={host} />
      <p class="hint">{hint}</p>
      <div role="status">
        <ul class="plain yaml-faults">
          {faults.map((fault) => (
            <li key={faultText(fault)}>
              <button type="button" class="link" onClick={() => editor.current?.goTo(fault)}>
                {faultText(fault)}
              </button>
            </li>
          ))}
        </ul>
      </div>
    </div>
  )
}

const faultText = ({ line, sentence }: Fault): string => `Line ${line}: ${sentence}`

/** First it must be YAML; then the API says what is wrong with it. */
function faultsOf(
  reading: ReturnType<typeof read>,
  schema: Schema,
  refusal: string,
): readonly Fault[] {
  if (reading.value === null) return reading.faults
  const { value } = reading
  const isField = (name: string): boolean =>
    Object.hasOwn(schema.properties ?? {}, name) || Object.hasOwn(value, name)
  return refusalsOf(refusal, isField).map(({ field, sentence }) => reading.faultAt(field, sentence))
}
