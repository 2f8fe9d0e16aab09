// Holds the current address: the part after `#`, which follows the browser's history.
import { computed, signal } from '@preact/signals'

interface Place {
  /** `/services/…`; decoded part by part by who reads it. */
  readonly path: string
  readonly query: URLSearchParams
}

export const place = signal<Place>(readPlace())
/** For what does not look at the query: a letter typed in a search leaves it. */
export const path = computed(() => place.value.path)
addEventListener('hashchange', () => {
  clearTimeout(later)
  later = undefined
  place.value = readPlace()
})

function readPlace(): Place {
  const [path = '', query = ''] = location.hash.replace(/^#/, '').split('?', 2)
  return { path: path === '' ? '/' : path, query: new URLSearchParams(query) }
}

/** For `href`. */
export function to(path: string, query: Readonly<Record<string, string>> = {}): string {
  const kept = Object.entries(query).filter(([, value]) => value !== '')
  const text = new URLSearchParams(kept).toString()
  return `#${path}${text === '' ? '' : `?${text}`}`
}

export function go(path: string, query: Readonly<Record<string, string>> = {}): void {
  writeAddress()
  location.hash = to(path, query)
}

/**
 * With each new address a browser looks for the icon of the page again, which costs more than the
 * letter, and some refuse more than a hundred in half a minute: it is written at a pause.
 */
const pauseMs = 300
let later: ReturnType<typeof setTimeout> | undefined

/** Filters stand in the address, and typing in one makes no entry of the history. */
export function setQuery(name: string, value: string): void {
  const { path, query } = place.value
  const next = new URLSearchParams(query)
  if (value === '') next.delete(name)
  else next.set(name, value)
  place.value = { path, query: next }
  clearTimeout(later)
  later = setTimeout(writeAddress, pauseMs)
}

/** Also before a click leads away, so that the way back leads to the same words. */
function writeAddress(): void {
  if (later === undefined) return
  clearTimeout(later)
  later = undefined
  history.replaceState(null, '', to(place.value.path, Object.fromEntries(place.value.query)))
}
addEventListener('click', writeAddress, true)

/**
 * @param pattern `/services/{id}`.
 * @returns the ids, decoded; null: it is another path
 */
export function matchPlace(pattern: string, path: string): Record<string, string> | null {
  const wanted = pattern.split('/')
  const given = path.split('/')
  if (wanted.length !== given.length) return null
  const ids: Record<string, string> = {}
  for (const [i, part] of wanted.entries()) {
    const name = /^\{(\w+)\}$/.exec(part)?.[1]
    if (name !== undefined) ids[name] = decode(given[i]!)
    else if (part !== given[i]) return null
  }
  return ids
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
