// The field that narrows a list; `/` leads to it, and its words stand in the address.
import { place, setQuery } from './location.ts'

export function SearchBox({ label, name = 'q' }: { label: string; name?: string }) {
  return (
    <input
      type="search"
      class="search"
      data-search
      aria-label={label}
      placeholder={`${label}  ( / )`}
      autocomplete="off"
      spellcheck={false}
      value={place.value.query.get(name) ?? ''}
      onInput={(event) => setQuery(name, event.currentTarget.value)}
    />
  )
}
