// The field for the id of a member or a pool: it is found by the words that people know.
import { useId } from 'preact/hooks'
import { thingsFor } from '../api/object-names.ts'

interface ThingProps {
  /** `memberId` takes members alone. */
  readonly name: string
  readonly value: unknown
  readonly isRequired: boolean
  readonly described: { readonly id: string; readonly name: string }
  readonly onChange: (value: unknown) => void
}

const offeredMax = 50

export function ThingField({ name, value, isRequired, described, onChange }: ThingProps) {
  const list = useId()
  const text = typeof value === 'string' ? value : ''
  const things = thingsFor(name)
  const wanted = text.toLowerCase()
  const chosen = things.find(({ id }) => id === text)
  const offered = things
    .filter(({ id, words }) => id.includes(wanted) || words.toLowerCase().includes(wanted))
    .slice(0, offeredMax)
  return (
    <>
      <input
        {...described}
        type="text"
        list={list}
        required={isRequired}
        autocomplete="off"
        spellcheck={false}
        placeholder={name === 'memberId' ? 'Address, pool or id' : 'Pool, address or id'}
        value={text}
        onInput={({ currentTarget: { value: now } }) => onChange(now === '' ? undefined : now)}
      />
      <datalist id={list}>
        {offered.map(({ id, words }) => (
          <option key={id} value={id}>
            {words}
          </option>
        ))}
      </datalist>
      {chosen && <p class="hint">{chosen.words}</p>}
    </>
  )
}
