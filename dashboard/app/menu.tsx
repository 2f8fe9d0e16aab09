// The menu at the side: the main screens, and the others in groups that fold.
import { signal } from '@preact/signals'
import { useId, useState } from 'preact/hooks'
import { operations } from '../api/document.ts'
import { storeChoice, storedChoice } from '../parts/stored-choice.ts'
import { headingsOf } from './navigation.ts'
import type { Entry, Heading } from './navigation.ts'
import { Brand } from './sign-in.tsx'

const key = 'gslbd-menu'
/** Names of the groups that are open in this browser. */
const opened = signal<readonly string[]>((storedChoice(key) ?? '').split('|'))

interface SideProps {
  readonly path: string
  readonly isOpen: boolean
  readonly toContent: () => void
}

export function Side({ path, isOpen, toContent }: SideProps) {
  return (
    <aside class={`side${isOpen ? ' open' : ''}`} id="side">
      <button type="button" class="skip" onClick={toContent}>
        To the content
      </button>
      <Brand />
      <nav aria-label="Screens">
        {headingsOf(operations.value).map((heading) =>
          heading.folds ? (
            <Group key={heading.name} {...{ heading, path }} />
          ) : (
            <Links key={heading.name} entries={heading.entries} path={path} />
          ),
        )}
      </nav>
    </aside>
  )
}

const isAt = ({ path: one }: Entry, path: string): boolean =>
  one === '/' ? path === '/' : path === one || path.startsWith(`${one}/`)

/** The group of the current page is open until it is folded. */
function Group({ heading: { name, entries }, path }: { heading: Heading; path: string }) {
  const list = useId()
  const [foldedAt, setFoldedAt] = useState('')
  const isHere = entries.some((entry) => isAt(entry, path))
  const isOpen = isHere ? foldedAt !== path : opened.value.includes(name)
  const toggle = (): void => {
    const others = opened.value.filter((one) => one !== name)
    opened.value = isOpen ? others : [...others, name]
    storeChoice(key, opened.value.join('|'))
    setFoldedAt(isOpen ? path : '')
  }
  return (
    <div>
      <h2>
        <button
          {...{ type: 'button', class: `fold${isHere ? ' here' : ''}`, onClick: toggle }}
          aria-expanded={isOpen}
          aria-controls={list}
        >
          {name}
        </button>
      </h2>
      <Links {...{ entries, path, id: list, isFolded: !isOpen }} />
    </div>
  )
}

interface LinksProps {
  readonly entries: readonly Entry[]
  readonly path: string
  readonly id?: string
  readonly isFolded?: boolean
}

function Links({ entries, path, id, isFolded = false }: LinksProps) {
  return (
    <ul {...(id === undefined ? {} : { id })} hidden={isFolded}>
      {entries.map((entry) => (
        <li key={entry.path}>
          <a
            href={`#${entry.path}`}
            {...(isAt(entry, path) ? { 'aria-current': 'page' as const } : {})}
          >
            {entry.name}
          </a>
        </li>
      ))}
    </ul>
  )
}
