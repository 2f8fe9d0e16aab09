// The frame of every screen: menu at the side, bar above, keys, state of the feed.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { isSessionOver } from '../api/client.ts'
import { clockOffMs, nowMs } from '../api/clock.ts'
import { heardMs, link } from '../api/live.ts'
import { me } from '../api/session.ts'
import { basket } from '../edit/basket.ts'
import { BasketDialog } from '../edit/basket-dialog.tsx'
import { path as pathNow } from '../parts/location.ts'
import { Announcer } from '../parts/announcer.tsx'
import { isDark, toggleTheme } from '../parts/theme.ts'
import { countOf, spanOf } from '../parts/formats.ts'
import { LicenceBanner } from './licence-banner.tsx'
import { Side } from './menu.tsx'
import { Palette } from './palette.tsx'
import { ScreenOf } from './screens.tsx'
import { SignInAgain } from './sign-in.tsx'
import { Component } from 'preact'
import type { ComponentChildren } from 'preact'
import { sentence } from '#dashboard/api/client.ts'
import { Fault, Page } from '#dashboard/parts/page.tsx'

export function Shell() {
  const [isFinding, setFinding] = useState(false)
  const [isOpen, setOpen] = useState(false)
  const [isReviewing, setReviewing] = useState(false)
  const main = useRef<HTMLElement>(null)
  const path = pathNow.value
  useKeys(() => setFinding(true))
  const isFirst = useRef(true)
  // Before the page is painted: later it would take the focus from a reader who has moved on.
  useLayoutEffect(() => {
    setOpen(false)
    setFinding(false)
    setReviewing(false)
    scrollTo(0, 0)
    // Screen readers begin at the new page, not at the old link.
    if (!isFirst.current) main.current?.focus()
    isFirst.current = false
  }, [path])
  return (
    <div class="shell">
      <Side path={path} isOpen={isOpen} toContent={() => main.current?.focus()} />
      <div class="main">
        <Top
          {...{ isOpen, onFind: () => setFinding(true), onMenu: () => setOpen(!isOpen) }}
          onReview={() => setReviewing(true)}
        />
        <LostBanner />
        <ClockBanner />
        <LicenceBanner />
        <main id="main" tabIndex={-1} ref={main} aria-labelledby="page-title">
          <Guard address={path}>
            <ScreenOf path={path} />
          </Guard>
        </main>
      </div>
      <Announcer />
      {isFinding && <Palette onClose={() => setFinding(false)} />}
      {isReviewing && <BasketDialog onClose={() => setReviewing(false)} />}
      {isSessionOver.value && <SignInAgain />}
    </div>
  )
}

interface TopProps {
  readonly isOpen: boolean
  readonly onFind: () => void
  readonly onMenu: () => void
  readonly onReview: () => void
}

function Top({ isOpen, onFind, onMenu, onReview }: TopProps) {
  const who = me.value
  return (
    <header class="top">
      <button
        {...{ type: 'button', class: 'menu', onClick: onMenu }}
        aria-controls="side"
        aria-expanded={isOpen}
      >
        Menu
      </button>
      <button type="button" class="find" onClick={onFind}>
        Go to … <kbd>Ctrl K</kbd>
      </button>
      <span class="grow" />
      {basket.value.length > 0 && (
        <button type="button" class="primary collected-count" onClick={onReview}>
          {countOf(basket.value.length, 'edit')} <span class="extra">to commit</span>
        </button>
      )}
      <span class={`link ${link.value}`} role="status">
        {linkLabels[link.value]}
      </span>
      <button
        {...{ type: 'button', class: 'quiet icon', onClick: toggleTheme }}
        aria-label={isDark.value ? 'Light colours' : 'Dark colours'}
      >
        {isDark.value ? '☀' : '☾'}
      </button>
      <a class="button" href="#/account">
        <span class="who">{who?.email ?? (who?.kind === 'dev' ? 'Dev mode' : 'Account')}</span>
        <span aria-hidden="true">⚙</span>
        <span class="visually-hidden">: your account</span>
      </a>
    </header>
  )
}

const linkLabels = {
  live: 'live',
  lost: 'not connected',
  connecting: 'connecting',
  off: 'not live',
} as const

/** The shown data may be old, so its age is shown. */
function LostBanner() {
  const isLost = link.value === 'lost'
  const [, setTurn] = useState(0)
  useEffect(() => {
    if (!isLost) return
    const timer = setInterval(() => setTurn((turn) => turn + 1), 1_000)
    return () => clearInterval(timer)
  }, [isLost])
  if (!isLost) return null
  const age = heardMs.value === 0 ? '' : spanOf(Math.round((nowMs() - heardMs.value) / 1_000))
  return (
    <div class="banner" role="status">
      The connection to the node is lost; trying again.
      {age !== '' && ` What you see is ${age} old.`}
    </div>
  )
}

/** Times are the node's: they may differ from this computer's. */
function ClockBanner() {
  const off = clockOffMs.value
  if (off === 0) return null
  const span = spanOf(Math.round(Math.abs(off) / 1_000))
  return (
    <div class="banner" role="status">
      The clock of this computer is {span} {off > 0 ? 'behind' : 'ahead of'} the node's. What is
      shown goes by the node's.
    </div>
  )
}

/** Ctrl+K anywhere; `/` outside of fields opens the page's search, or the palette. */
function useKeys(find: () => void): void {
  useEffect(() => {
    const hear = (event: KeyboardEvent): void => {
      if (document.querySelector('dialog[open]') !== null) return
      const isTyping = (event.target as Element).closest('input, textarea, select') !== null
      const isPalette = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k'
      const isSlash = event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey
      if (!isPalette && !isSlash) return
      event.preventDefault()
      const search = isSlash ? document.querySelector<HTMLElement>('[data-search]') : null
      if (search === null) find()
      else search.focus()
    }
    addEventListener('keydown', hear)
    return () => removeEventListener('keydown', hear)
  }, [])
}

interface GuardProps {
  /** Another address is another try. */
  readonly address: string
  readonly children: ComponentChildren
}

interface GuardState {
  readonly fault: string
}

/** Contains the failure of a screen: its error takes its place, and the others go on. */
class Guard extends Component<GuardProps, GuardState> {
  override state: GuardState = { fault: '' }

  static override getDerivedStateFromError(error: unknown): GuardState {
    return { fault: sentence(error) }
  }

  override componentDidUpdate({ address }: GuardProps): void {
    if (address !== this.props.address && this.state.fault !== '') this.setState({ fault: '' })
  }

  override render() {
    const { fault } = this.state
    if (fault === '') return this.props.children
    const text = `A fault of the dashboard: ${fault}. Nothing was changed. Other screens go on.`
    return (
      <Page title="This screen has failed">
        <Fault fault={text} reload={() => this.setState({ fault: '' })} />
      </Page>
    )
  }
}
