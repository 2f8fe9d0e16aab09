// Defines the building blocks of screens: the page, cards, badges, notices, times, code.
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Standing } from '../api/live.ts'
import type { Loaded } from '../api/load.ts'
import { ageOf, endOfTimeMs, localOf, utcOf } from './formats.ts'

interface PageProps {
  readonly title: string
  /** One line under the title. */
  readonly lead?: ComponentChildren
  readonly back?: { readonly href: string; readonly name: string }
  readonly actions?: ComponentChildren
  readonly children: ComponentChildren
}

export function Page({ title, lead, back, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · gslbd`
  }, [title])
  return (
    <>
      <header class="page-head">
        <div>
          {back && (
            <a class="back" href={back.href}>
              ← {back.name}
            </a>
          )}
          <h1 id="page-title">{title}</h1>
          {lead !== undefined && <p class="lead">{lead}</p>}
        </div>
        {actions !== undefined && <div class="actions">{actions}</div>}
      </header>
      {children}
    </>
  )
}

interface CardProps {
  readonly title?: string
  readonly aside?: ComponentChildren
  readonly class?: string
  readonly children: ComponentChildren
}

export function Card({ title, aside, class: more = '', children }: CardProps) {
  return (
    <section class={`card ${more}`} {...(title === undefined ? {} : { 'aria-label': title })}>
      {title !== undefined && (
        <header class="card-head">
          <h2>{title}</h2>
          {aside}
        </header>
      )}
      {children}
    </section>
  )
}

export type Tone = 'good' | 'bad' | 'warn' | 'plain' | 'info'

export function Badge({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>
}

const standings: Readonly<Record<Standing, readonly [Tone, string]>> = {
  up: ['good', 'up'],
  down: ['bad', 'down'],
  split: ['warn', 'nodes differ'],
  disabled: ['plain', 'disabled'],
  unknown: ['plain', 'not probed'],
}

export function StandingBadge({ standing }: { standing: Standing }) {
  const [tone, word] = standings[standing]
  return <Badge tone={tone}>{word}</Badge>
}

/** What teaches where there is nothing yet. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {children !== undefined && <div>{children}</div>}
    </div>
  )
}

export function Fault({ fault, reload }: { fault: string; reload?: () => void }) {
  if (fault === '') return null
  return (
    <div class="notice bad" role="alert">
      <p>{fault}</p>
      {reload && (
        <button type="button" onClick={reload}>
          Try again
        </button>
      )}
    </div>
  )
}

export function Notice({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return <div class={`notice ${tone}`}>{children}</div>
}

export function Loading() {
  return (
    <div class="loading" role="status">
      <span class="visually-hidden">Loading</span>
      <span class="bone" />
      <span class="bone" />
      <span class="bone" />
    </div>
  )
}

/** What is shown of something that loads beside its value. */
export function LoadState({ value, fault, reload }: Loaded<unknown>) {
  return (
    <>
      <Fault {...{ fault, reload }} />
      {value === undefined && fault === '' && <Loading />}
    </>
  )
}

/** How long ago, with both zones in the title. */
export function Time({ ms, isWhole = false }: { ms: number; isWhole?: boolean }) {
  if (!(ms > 0 && ms < endOfTimeMs)) return <span>–</span>
  const local = localOf(ms)
  return (
    <time dateTime={new Date(ms).toISOString()} title={`${local} · ${utcOf(ms)}`}>
      {isWhole ? local : ageOf(ms)}
    </time>
  )
}

export function Copy({ text, children = 'Copy' }: { text: string; children?: ComponentChildren }) {
  const [isDone, setDone] = useState(false)
  useEffect(() => {
    if (!isDone) return
    const timer = setTimeout(() => setDone(false), 2_000)
    return () => clearTimeout(timer)
  }, [isDone])
  const copy = (): void => {
    void navigator.clipboard.writeText(text).then(() => setDone(true))
  }
  return (
    <button type="button" class="quiet small" onClick={copy}>
      {isDone ? 'Copied' : children}
    </button>
  )
}

/** Text in the letters of a terminal; it scrolls by the keyboard, too. */
export function Code({ text, name }: { text: string; name: string }) {
  return (
    <pre class="code" tabIndex={0} role="group" aria-label={name}>
      {text}
    </pre>
  )
}
