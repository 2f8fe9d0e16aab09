// A form with a field for each property that the API's document gives a body.
import { useId } from 'preact/hooks'
import { allPools } from '../api/live.ts'
import { isNullable, typesOf, withoutNull } from '../api/schema.ts'
import type { Schema } from '../api/schema.ts'
import { fieldTimeOf, labelOf } from '../parts/words.ts'
import { exampleOf } from './example.ts'
import { fieldsOf, innerKindOf, oneOf, rowsOf, toldWithin } from './inner-fields.ts'
import { withField, withRow, withoutRow } from './inner-fields.ts'
import type { Draft } from './inner-fields.ts'
import { ThingField } from './thing-field.tsx'
import { toldOf } from '../yaml/refusal.ts'
import type { Told } from '../yaml/refusal.ts'

export type { Draft } from './inner-fields.ts'

interface FormProps {
  readonly schema: Schema
  readonly draft: Draft
  /** What the API has said of it; each sentence stands at its field. */
  readonly refusal?: string
  readonly onChange: (draft: Draft) => void
}

export function SchemaForm({ schema, draft, refusal = '', onChange }: FormProps) {
  const told = toldOf(refusal, (name) => Object.hasOwn(schema.properties ?? {}, name))
  return <Fields {...{ schema, draft, told, onChange }} isNeeded />
}

interface FieldsProps {
  readonly schema: Schema
  readonly draft: Draft
  readonly told: readonly Told[]
  /** Where the object may be left out, so may all of its fields. */
  readonly isNeeded: boolean
  readonly onChange: (draft: Draft) => void
}

function Fields({ schema, draft, told, isNeeded, onChange }: FieldsProps) {
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
          {...toldWithin(told, name)}
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
  readonly inner: readonly Told[]
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
          {withoutLinks(description)}
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
        {kind === 'rows' ? <Rows {...props} /> : <Inner {...props} />}
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
      {...{ draft, told: inner, schema: withoutNull(schema) }}
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
                  <th key={field} scope="col" title={withoutLinks(part.description ?? '')}>
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
                      sentence={toldWithin(toldWithin(inner, String(i)).inner, field).sentence}
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

const withoutLinks = (text: string): string =>
  text.replace(/\s*\[[^\]]*\]\([^)]*\)\.?/g, '').replaceAll('`', '')

interface ControlProps {
  readonly id: string
  readonly name: string
  readonly schema: Schema
  readonly value: unknown
  readonly isRequired: boolean
  readonly mayBeNull: boolean
  readonly describedBy: string
  readonly isFaulty: boolean
  /** Where no label stands beside it. */
  readonly label?: string
  readonly onChange: (value: unknown) => void
}

function Control(props: ControlProps) {
  const { name, schema, value, onChange } = props
  const [type = ''] = typesOf(schema)
  if (name === 'poolId') return <PoolSelect {...props} />
  if (name === 'memberId' || name === 'resourceId') {
    return <ThingField {...props} described={described(props)} />
  }
  if (schema.enum !== undefined) return <Choice {...props} options={schema.enum.map(String)} />
  if (type === 'boolean') {
    const isOn = (value ?? schema.default ?? false) === true
    return (
      <input
        {...described(props)}
        type="checkbox"
        checked={isOn}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
    )
  }
  if (name === 'weight') return <WeightField {...props} />
  if (type === 'integer' || type === 'number') return <NumberField {...props} />
  if (name.endsWith('At')) return <InstantField {...props} />
  if (type === 'array' && typesOf(schema.items ?? {})[0] === 'string') {
    return <Lines {...props} />
  }
  if (type === 'object' || type === 'array') return <JsonField {...props} />
  return <TextField {...props} />
}

const described = ({ id, name, describedBy, isFaulty, label }: ControlProps) => ({
  id,
  name,
  ...(label === undefined ? {} : { 'aria-label': label }),
  ...(isFaulty ? { 'aria-invalid': true } : {}),
  ...(describedBy === '' ? {} : { 'aria-describedby': describedBy }),
})

function TextField(props: ControlProps) {
  const { name, schema, value, isRequired, mayBeNull, onChange } = props
  const isSecret = /password|secret|routingKey/i.test(name)
  // The types of the library tell the two apart by what else an input may have.
  const kind = { type: isSecret ? 'password' : 'text' } as { readonly type: 'text' }
  return (
    <input
      {...described(props)}
      {...kind}
      autocomplete={isSecret ? 'new-password' : 'off'}
      spellcheck={false}
      required={isRequired}
      {...(schema.maxLength === undefined ? {} : { maxLength: schema.maxLength })}
      placeholder={placeholderOf(schema)}
      value={typeof value === 'string' ? value : ''}
      onInput={({ currentTarget }) => {
        const text = currentTarget.value
        const isLeftOut = text === '' && value === undefined
        onChange(isLeftOut ? undefined : text === '' && mayBeNull ? null : text)
      }}
    />
  )
}

function placeholderOf({ default: usual, examples }: Schema): string {
  if (typeof usual === 'string' || typeof usual === 'number') return String(usual)
  return typeof examples?.[0] === 'string' ? examples[0] : ''
}

function NumberField(props: ControlProps) {
  const { schema, value, isRequired, onChange } = props
  return (
    <input
      {...described(props)}
      type="number"
      step={typesOf(schema)[0] === 'integer' ? 1 : 'any'}
      required={isRequired}
      {...(schema.minimum === undefined || schema.minimum < -1e6 ? {} : { min: schema.minimum })}
      {...(schema.maximum === undefined ? {} : { max: schema.maximum })}
      placeholder={placeholderOf(schema)}
      value={typeof value === 'number' ? value : ''}
      onInput={({ currentTarget }) =>
        onChange(currentTarget.value === '' ? undefined : currentTarget.valueAsNumber)
      }
    />
  )
}

const sliderMax = 100

/** A slider for the usual weights, and the number for all others. */
function WeightField(props: ControlProps) {
  const { value, name, onChange } = props
  const weight = typeof value === 'number' ? value : Number(props.schema.default ?? 1)
  return (
    <div class="weight">
      <input
        type="range"
        aria-label={`${labelOf(name)}, as a slider`}
        min={0}
        max={Math.max(sliderMax, weight)}
        value={weight}
        onInput={({ currentTarget }) => onChange(currentTarget.valueAsNumber)}
      />
      <NumberField {...props} />
    </div>
  )
}

/** In the reader's zone; the API gets UTC. */
function InstantField(props: ControlProps) {
  const { value, isRequired, onChange } = props
  const ms = typeof value === 'string' ? Date.parse(value) : NaN
  return (
    <input
      {...described(props)}
      type="datetime-local"
      required={isRequired}
      value={Number.isNaN(ms) ? '' : fieldTimeOf(ms)}
      onInput={({ currentTarget: { value: text } }) =>
        onChange(text === '' ? undefined : new Date(text).toISOString())
      }
    />
  )
}

function Choice(props: ControlProps & { readonly options: readonly string[] }) {
  const { schema, value, isRequired, onChange, options } = props
  const usual = schema.default
  return (
    <select
      {...described(props)}
      required={isRequired}
      value={typeof value === 'string' ? value : typeof usual === 'string' ? usual : ''}
      onChange={({ currentTarget }) =>
        onChange(
          currentTarget.value === '' && !options.includes('') ? undefined : currentTarget.value,
        )
      }
    >
      {!options.includes('') && usual === undefined && <option value="">Choose …</option>}
      {options.map((one) => (
        <option key={one} value={one}>
          {one === '' ? '(none)' : one}
        </option>
      ))}
    </select>
  )
}

function PoolSelect(props: ControlProps) {
  const { value, onChange, isRequired, mayBeNull } = props
  return (
    <select
      {...described(props)}
      required={isRequired}
      value={typeof value === 'string' ? value : ''}
      onChange={({ currentTarget: { value: id } }) =>
        onChange(id === '' ? (mayBeNull ? null : undefined) : id)
      }
    >
      <option value="">No pool</option>
      {allPools().map((pool) => (
        <option key={pool.id} value={pool.id}>
          {pool.name}
        </option>
      ))}
    </select>
  )
}

/** A list of texts: one a line. */
function Lines(props: ControlProps) {
  const { value, onChange } = props
  const lines = Array.isArray(value) ? (value as string[]) : []
  return (
    <textarea
      {...described(props)}
      rows={Math.min(8, lines.length + 2)}
      spellcheck={false}
      placeholder="One a line"
      value={lines.join('\n')}
      onInput={({ currentTarget }) => {
        const text = currentTarget.value
        onChange(text === '' ? (value === undefined ? undefined : []) : text.split('\n'))
      }}
    />
  )
}

/** What has parts of its own is written as JSON, and counts once it can be read. */
function JsonField(props: ControlProps) {
  const { schema, value, onChange } = props
  const text = value === undefined ? '' : JSON.stringify(value, null, 2)
  const example = JSON.stringify(exampleOf(schema), null, 2)
  return (
    <textarea
      {...described(props)}
      class="code"
      rows={Math.min(14, Math.max(text.split('\n').length + 2, example.split('\n').length))}
      spellcheck={false}
      placeholder={`JSON, such as\n${example}`}
      defaultValue={text}
      onInput={({ currentTarget }) => {
        const now = currentTarget.value.trim()
        try {
          onChange(now === '' ? undefined : (JSON.parse(now) as unknown))
          currentTarget.setCustomValidity('')
        } catch {
          currentTarget.setCustomValidity('This is not JSON yet.')
        }
      }}
    />
  )
}
