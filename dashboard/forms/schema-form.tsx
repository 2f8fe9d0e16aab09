// A form with a field for each property that the API's document gives a body.
import { useId } from 'preact/hooks'
import { isNullable, typesOf, withoutNull } from '../api/schema.ts'
import type { Schema } from '../api/schema.ts'
import { labelOf, withoutMarks } from '../parts/formats.ts'
import { Control } from './controls.tsx'
import { fieldsOf, innerKindOf, oneOf, rowsOf, refusalsWithin } from './inner-fields.ts'
import { withField, withRow, withoutRow } from './inner-fields.ts'
import type { Draft, FieldsProps } from './inner-fields.ts'
import { StepsField } from './steps-field.tsx'
import { refusalsOf } from '../yaml/refusal.ts'
import type { FieldRefusal } from '../yaml/refusal.ts'

export type { Draft } from './inner-fields.ts'

interface FormProps {
  readonly schema: Schema
  readonly draft: Draft
  /** What the API has said of it; each sentence stands at its field. */
  readonly refusal?: string
  readonly onChange: (draft: Draft) => void
}

export function SchemaForm({ schema, draft, refusal = '', onChange }: FormProps) {
  const refusals = refusalsOf(refusal, (name) => Object.hasOwn(schema.properties ?? {}, name))
  return <Fields {...{ schema, draft, refusals, onChange }} isNeeded />
}

function Fields({ schema, draft, refusals, isNeeded, onChange }: FieldsProps) {
  const required = new Set(isNeeded ? schema.required : [])
  return (
    <div class="fields">
      {fieldsOf(schema).map(([name, part]) => (
        <Field
          key={name}
          name={name}
          schema={part}
          isRequired={required.has(name)}
          value={draft[name]}
          {...refusalsWithin(refusals, name)}
          onChange={(value) => onChange(withField(draft, name, value))}
        />
      ))}
    </div>
  )
}

interface FieldProps {
  readonly name: string
  readonly schema: Schema
  readonly isRequired: boolean
  readonly value: unknown
  /** Why the API does not take it; empty: it has not said so. */
  readonly sentence: string
  readonly inner: readonly FieldRefusal[]
  readonly onChange: (value: unknown) => void
}

function Field(props: FieldProps) {
  const { name, schema, isRequired, value, sentence, onChange } = props
  const id = useId()
  const plain = withoutNull(schema)
  const description = schema.description ?? plain.description ?? ''
  const kind = innerKindOf(plain)
  const label = (
    <>
      {labelOf(name.replace(/^(pool|member|resource)Id$/, '$1'))}
      {isRequired && <span class="required"> required</span>}
    </>
  )
  const words = (
    <>
      {description !== '' && (
        <p id={`${id}-hint`} class="hint">
          {withoutMarks(description)}
        </p>
      )}
      {sentence !== '' && (
        <p id={`${id}-fault`} class="fault">
          {sentence}
        </p>
      )}
    </>
  )
  const described = [
    ...(description === '' ? [] : [`${id}-hint`]),
    ...(sentence === '' ? [] : [`${id}-fault`]),
  ].join(' ')
  if (kind !== 'other') {
    return (
      <fieldset {...(described === '' ? {} : { 'aria-describedby': described })}>
        <legend>{label}</legend>
        {words}
        {kind === 'rows' && <Rows {...props} />}
        {kind === 'object' && <Inner {...props} />}
        {kind === 'steps' && <StepsField {...props} Form={Fields} />}
      </fieldset>
    )
  }
  const isOn = typesOf(plain)[0] === 'boolean'
  return (
    <div class={`field${isOn ? ' inline' : ''}`}>
      <label for={id}>{label}</label>
      <Control
        {...{ id, name, value, onChange, isRequired }}
        schema={plain}
        mayBeNull={isNullable(schema)}
        isFaulty={sentence !== ''}
        describedBy={described}
      />
      {words}
    </div>
  )
}

/** The fields of an object within the object. */
function Inner({ schema, isRequired, value, inner, onChange }: FieldProps) {
  const draft = (value ?? {}) as Draft
  return (
    <Fields
      {...{ draft, refusals: inner, schema: withoutNull(schema) }}
      isNeeded={isRequired || Object.keys(draft).length > 0}
      onChange={(now) => onChange(Object.keys(now).length === 0 && !isRequired ? undefined : now)}
    />
  )
}

/** A list of objects: a row each. */
function Rows({ name, schema, value, inner, onChange }: FieldProps) {
  const id = useId()
  const plain = withoutNull(schema)
  const item = withoutNull(plain.items ?? {})
  const columns = fieldsOf(item)
  const rows = rowsOf(value)
  const one = labelOf(oneOf(name))
  return (
    <>
      {rows.length > 0 && (
        <div class="table-box" tabIndex={0} role="group" aria-label={labelOf(name)}>
          <table class="rows">
            <thead>
              <tr>
                {columns.map(([field, part]) => (
                  <th key={field} scope="col" title={withoutMarks(part.description ?? '')}>
                    {labelOf(field)}
                  </th>
                ))}
                <th scope="col">
                  <span class="visually-hidden">What can be done</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row, i) => (
                <tr key={i}>
                  {columns.map(([field, part]) => (
                    <Cell
                      key={field}
                      {...{ field, part, row, id: `${id}-${i}-${field}` }}
                      label={`${labelOf(field)} of ${one.toLowerCase()} ${i + 1}`}
                      isRequired={item.required?.includes(field) ?? false}
                      sentence={
                        refusalsWithin(refusalsWithin(inner, String(i)).inner, field).sentence
                      }
                      onChange={(now) => onChange(withRow(rows, i, now))}
                    />
                  ))}
                  <td>
                    <button
                      {...{ type: 'button', class: 'small' }}
                      aria-label={`Remove ${one.toLowerCase()} ${i + 1}`}
                      onClick={() => onChange(withoutRow(rows, i))}
                    >
                      Remove
                    </button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <button
        {...{ type: 'button', class: 'small' }}
        disabled={rows.length >= (plain.maxItems ?? Infinity)}
        onClick={() => onChange([...rows, {}])}
      >
        Add {one.toLowerCase()}
      </button>
    </>
  )
}

interface CellProps {
  readonly id: string
  readonly field: string
  readonly part: Schema
  readonly row: Draft
  readonly label: string
  readonly isRequired: boolean
  readonly sentence: string
  readonly onChange: (row: Draft) => void
}

function Cell({ id, field, part, row, label, isRequired, sentence, onChange }: CellProps) {
  return (
    <td>
      <Control
        {...{ id, label, isRequired, name: field, value: row[field] }}
        schema={withoutNull(part)}
        mayBeNull={isNullable(part)}
        isFaulty={sentence !== ''}
        describedBy={sentence === '' ? '' : `${id}-fault`}
        onChange={(value) => onChange(withField(row, field, value))}
      />
      {sentence !== '' && (
        <p id={`${id}-fault`} class="fault">
          {sentence}
        </p>
      )}
    </td>
  )
}
