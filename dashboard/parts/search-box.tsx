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

/** Whether each word is somewhere in the texts. */
export const hasWords = (query: string, texts: readonly string[]): boolean =>
  finderOf(query)(searchedOf(texts))

/** What `finderOf` looks at; made once for a row, not for each letter that is typed. */
export const searchedOf = (texts: readonly string[]): string => texts.join(' ').toLowerCase()

export function finderOf(query: string): (searched: string) => boolean {
  const words = query.toLowerCase().split(/\s+/)
  return (searched) => words.every((word) => searched.includes(word))
}
