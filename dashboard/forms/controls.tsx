// The control of a field by the schema of its value: a text, a number, a choice, a list of lines.
import { allPools } from '../api/live.ts'
import { typesOf } from '../api/schema.ts'
import type { Schema } from '../api/schema.ts'
import { fieldTimeOf, labelOf } from '../parts/formats.ts'
import { exampleOf } from './example.ts'
import { ThingField } from './object-id-field.tsx'

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

export function Control(props: ControlProps) {
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
  if (schema.contentMediaType !== undefined) return <TextArea {...props} />
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
  const isSecret = schema.writeOnly === true || /password|secret/i.test(name)
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

/** A text of many lines, such as a program. */
function TextArea(props: ControlProps) {
  const { schema, value, isRequired, onChange } = props
  const text = typeof value === 'string' ? value : ''
  return (
    <textarea
      {...described(props)}
      class="code"
      rows={Math.min(14, text.split('\n').length + 2)}
      spellcheck={false}
      required={isRequired}
      {...(schema.maxLength === undefined ? {} : { maxLength: schema.maxLength })}
      value={text}
      onInput={({ currentTarget }) => onChange(currentTarget.value)}
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
