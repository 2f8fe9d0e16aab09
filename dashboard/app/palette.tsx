// The command palette: finds a screen, service or pool by a few letters of its name.
import type { TargetedKeyboardEvent } from 'preact'
import { useState } from 'preact/hooks'
import { operations } from '../api/document.ts'
import { allPools, allServices } from '../api/live.ts'
import { Dialog } from '../parts/dialog.tsx'
import { go } from '../parts/location.ts'
import { matchesQuery } from '../parts/find.ts'
import { headingsOf } from './navigation.ts'

interface Target {
  readonly name: string
  readonly kind: string
  readonly path: string
}

const shownMax = 30

function targetsFor(words: string): Target[] {
  const screens = headingsOf(operations.value).flatMap(({ name: kind, entries }) =>
    entries.map(({ name, path }) => ({ name, kind, path })),
  )
  const services = allServices().map(({ id, name, domain }) => ({
    ...{
      name: `${name} · ${domain}`,
      kind: 'Service',
      path: `/services/${encodeURIComponent(id)}`,
    },
  }))
  const pools = allPools().map(({ id, name }) => ({
    ...{ name, kind: 'Pool', path: `/pools/${encodeURIComponent(id)}` },
  }))
  const found: Target[] = []
  for (const target of [...screens, ...services, ...pools]) {
    if (matchesQuery(words, [target.name, target.kind])) found.push(target)
    if (found.length === shownMax) break
  }
  return found
}

export function Palette({ onClose }: { onClose: () => void }) {
  const [words, setWords] = useState('')
  const [at, setAt] = useState(0)
  const targets = targetsFor(words)
  const chosen = Math.min(at, targets.length - 1)
  const follow = (target: Target | undefined): void => {
    if (target === undefined) return
    onClose()
    go(target.path)
  }
  const steer = (event: TargetedKeyboardEvent<HTMLInputElement>): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setAt(Math.max(0, Math.min(targets.length - 1, chosen + step)))
    }
    if (event.key === 'Enter') {
      event.preventDefault()
      // Fast typing is ahead of the list that is shown.
      const { value } = event.currentTarget
      follow(value === words ? targets[chosen] : targetsFor(value)[0])
    }
  }
  return (
    <Dialog title="Go to" onClose={onClose} class="palette">
      <input
        type="text"
        role="combobox"
        aria-label="Screen, service or pool"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={targets.length === 0 ? '' : `palette-${chosen}`}
        autocomplete="off"
        spellcheck={false}
        value={words}
        onInput={(event) => {
          setWords(event.currentTarget.value)
          setAt(0)
        }}
        onKeyDown={steer}
      />
      <ul id="palette-list" role="listbox" aria-label="Where to go">
        {targets.map((target, i) => (
          <li
            key={target.path}
            id={`palette-${i}`}
            role="option"
            aria-selected={i === chosen}
            onClick={() => follow(target)}
          >
            <span>{target.name}</span>
            <span class="soft">{target.kind}</span>
          </li>
        ))}
      </ul>
      {targets.length === 0 && <p class="soft">Nothing has these letters.</p>}
    </Dialog>
  )
}
