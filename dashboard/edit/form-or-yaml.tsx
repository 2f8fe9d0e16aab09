// Shows a draft as a form or as YAML, with a switch between them.
import type { FunctionComponent } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { sentence } from '../api/client.ts'
import type { Schema } from '../api/schema.ts'
import { Fault, Loading } from '../parts/page.tsx'
import { yamlOf } from '../parts/formats.ts'
import type { YamlFieldProps } from '../yaml/yaml-field.tsx'
import { isSame } from './differences.ts'
import { exampleOf } from '../forms/example.ts'
import { SchemaForm } from '../forms/schema-form.tsx'
import type { Draft } from '../forms/schema-form.tsx'

/** State of the YAML view; it stays while the change is reviewed. */
interface Written {
  readonly isShown: boolean
  readonly text: string
  /** The parsed text; null: it is invalid. */
  readonly value: Draft | null
  /** Why it is invalid; empty: it is not. */
  readonly fault: string
}

export const nothingWritten: Written = { isShown: false, text: '', value: {}, fault: '' }

interface FormOrYamlProps {
  readonly schema: Schema
  readonly draft: Draft
  readonly onChange: (draft: Draft) => void
  readonly written: Written
  readonly setWritten: (written: Written) => void
  readonly refusal: string
  readonly check: (draft: Draft) => Promise<string>
}

export function FormOrYaml(props: FormOrYamlProps) {
  const { schema, draft, onChange, written, setWritten, refusal, check } = props
  const show = (isShown: boolean): void => {
    // An equal draft keeps its comments.
    const isKept = isShown && written.value !== null && isSame(written.value, draft)
    const again = { isShown, text: yamlText(draft), value: draft, fault: '' }
    setWritten(isKept || !isShown ? { ...written, isShown, fault: '' } : again)
  }
  return (
    <>
      <div class="row switch" role="group" aria-label="Edit as">
        {[false, true].map((isYaml) => (
          <button
            key={String(isYaml)}
            {...{ type: 'button', class: 'small', 'aria-pressed': written.isShown === isYaml }}
            onClick={() => written.isShown !== isYaml && show(isYaml)}
          >
            {isYaml ? 'YAML' : 'Form'}
          </button>
        ))}
      </div>
      {written.isShown ? (
        <LateYaml
          {...{ schema, refusal, check, text: written.text }}
          example={`# such as\n${yamlText(exampleOf(schema) as Draft)}`}
          onText={(text, value, fault) => {
            setWritten({ isShown: true, text, value, fault })
            if (value !== null) onChange(value)
          }}
        />
      ) : (
        <SchemaForm {...{ schema, draft, refusal, onChange }} />
      )}
    </>
  )
}

const yamlText = (draft: Draft): string =>
  Object.keys(draft).length === 0 ? '' : `${yamlOf(draft).trim()}\n`

/** Loaded on demand, since the editor is much code. */
function LateYaml(props: YamlFieldProps) {
  const [View, setView] = useState<FunctionComponent<YamlFieldProps> | null>(null)
  const [fault, setFault] = useState('')
  const load = (): void => {
    setFault('')
    import('../yaml/yaml-field.tsx').then(
      ({ YamlField }) => setView(() => YamlField),
      (error: unknown) => setFault(`The editor could not be loaded: ${sentence(error)}`),
    )
  }
  useEffect(load, [])
  if (View !== null) return <View {...props} />
  return fault === '' ? <Loading /> : <Fault fault={fault} reload={load} />
}
