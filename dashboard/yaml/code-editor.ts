// The text editor itself: CodeMirror in a shadow root, where it adopts its styles as sheets.
import { autocompletion, completionKeymap } from '@codemirror/autocomplete'
import type { CompletionContext, CompletionResult } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import { HighlightStyle, indentUnit, syntaxHighlighting } from '@codemirror/language'
import { lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint'
import { Compartment, EditorState } from '@codemirror/state'
import { Decoration, EditorView, MatchDecorator, ViewPlugin, WidgetType } from '@codemirror/view'
import { keymap, lineNumbers, placeholder } from '@codemirror/view'
import type { DecorationSet } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { nowMs } from '../api/clock.ts'
import type { Offers } from './completions.ts'
import type { Fault } from './parse-text.ts'

export interface CodeEditor {
  readonly setFaults: (faults: readonly Fault[]) => void
  readonly setDark: (isDark: boolean) => void
  readonly goTo: (fault: Fault) => void
  readonly close: () => void
}

interface CodeOptions {
  readonly text: string
  readonly label: string
  /** Read to people who do not see what is below the editor. */
  readonly hint: string
  readonly example: string
  readonly isDark: boolean
  readonly onText: (text: string) => void
  readonly offersAt: (text: string, at: number) => Offers | null
  /** Returns a description of the object with an id; empty: unknown. */
  readonly wordsOf: (id: string) => string
}

/** A sheet that is adopted passes `style-src 'self'`; the page's own head would get an element. */
export function openCode(host: HTMLElement, options: CodeOptions): CodeEditor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
  const theme = new Compartment()
  const view = new EditorView({
    parent: root as unknown as Element,
    root,
    state: EditorState.create({
      doc: options.text,
      extensions: [extensionsOf(options), theme.of(EditorView.darkTheme.of(options.isDark))],
    }),
  })
  return {
    setFaults: (faults) => {
      const found = faults.map(({ from, to, sentence }) => ({
        ...{ from, to: Math.max(from, Math.min(to, view.state.doc.length)) },
        ...{ severity: 'error' as const, message: sentence },
      }))
      view.dispatch(setDiagnostics(view.state, found))
    },
    setDark: (isDark) =>
      view.dispatch({ effects: theme.reconfigure(EditorView.darkTheme.of(isDark)) }),
    goTo: ({ from }) => {
      view.dispatch({ selection: { anchor: from }, scrollIntoView: true })
      view.focus()
    },
    close: () => view.destroy(),
  }
}

function extensionsOf({ label, hint, example, onText, offersAt, wordsOf }: CodeOptions) {
  return [
    ...[lineNumbers(), history(), yaml(), indentUnit.of('  '), lintGutter()],
    EditorView.lineWrapping,
    placeholder(example),
    EditorView.contentAttributes.of({ 'aria-label': label, 'aria-description': hint }),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) onText(update.state.doc.toString())
    }),
    autocompletion({
      ...{ icons: false, override: [completed(offersAt)] },
      // As soon as there is a word; a list that opens by itself is in the way of the arrows.
      activateOnTyping: true,
    }),
    [typedOver, namesBesideIds(wordsOf)],
    keymap.of([
      ...completionKeymap,
      { key: 'Escape', run: leaveByTab },
      ...[indentWithTab, ...lintKeymap, ...historyKeymap, ...defaultKeymap],
    ]),
    [syntaxHighlighting(colours), look],
  ]
}

const leaveMs = 3_000
const leaving = new WeakMap<EditorView, number>()

/** Escape, then Tab leaves the field. A second Escape is for whatever is around it. */
function leaveByTab(view: EditorView): boolean {
  const now = nowMs()
  if (now - (leaving.get(view) ?? -Infinity) < leaveMs) return false
  leaving.set(view, now)
  view.setTabFocusMode(leaveMs)
  return true
}

/** Typing over a selection, a browser keeps its look as inline styles, which the page refuses. */
const typedOver = EditorView.domEventHandlers({
  beforeinput: ({ inputType, data }, view) => {
    const isOver = inputType === 'insertText' && !view.state.selection.main.empty
    if (!isOver || data === null || view.composing) return false
    view.dispatch(view.state.replaceSelection(data), { userEvent: 'input.type' })
    return true
  },
})

const completed =
  (offersAt: CodeOptions['offersAt']) =>
  ({ state, pos, explicit }: CompletionContext): CompletionResult | null => {
    const found = offersAt(state.doc.toString(), pos)
    if (found === null || found.offers.length === 0) return null
    const isAtWord = pos > found.from
    // After `name: ` the values are few: they are shown at once.
    const isValue = /: +$/.test(state.sliceDoc(state.doc.lineAt(pos).from, found.from))
    if (!explicit && !isAtWord && !isValue) return null
    return {
      from: found.from,
      options: found.offers.map(({ label, text, detail, info }) => ({
        ...{ label, apply: text, detail, type: 'text' },
        ...(info === '' ? {} : { info }),
      })),
      validFor: /^[\w.:/ -]*$/,
    }
  }

class NameWidget extends WidgetType {
  readonly words: string

  constructor(words: string) {
    super()
    this.words = words
  }

  override eq(other: NameWidget): boolean {
    return other.words === this.words
  }

  override toDOM(): HTMLElement {
    const element = document.createElement('span')
    element.className = 'cm-name'
    element.textContent = ` ← ${this.words}`
    return element
  }
}

/** The API takes ids; beside each stands what it is the id of. */
function namesBesideIds(wordsOf: CodeOptions['wordsOf']) {
  const matcher = new MatchDecorator({
    regexp: /\b([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b"?/g,
    decorate: (add, _from, to, [, id = '']) => {
      const words = wordsOf(id)
      if (words !== '') add(to, to, Decoration.widget({ widget: new NameWidget(words), side: 1 }))
    },
  })
  return ViewPlugin.define(
    (view) => {
      const plugin: { names: DecorationSet } = { names: matcher.createDeco(view) }
      return {
        ...plugin,
        update(update) {
          this.names = matcher.updateDeco(update, this.names)
        },
      }
    },
    { decorations: ({ names }) => names },
  )
}

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--good)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--text-soft)', fontStyle: 'italic' },
  { tag: [tags.separator, tags.punctuation, tags.meta], color: 'var(--text-soft)' },
])

/** With the colours of the page, which shine through the shadow root in both themes. */
const look = EditorView.theme({
  '&': {
    ...{ color: 'var(--text)', backgroundColor: 'var(--back)', fontSize: '0.87rem' },
    ...{ border: '1px solid var(--line-strong)', borderRadius: '8px' },
  },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '2px' },
  '.cm-scroller': {
    ...{ fontFamily: 'var(--mono)', lineHeight: '1.55', overflow: 'auto' },
    ...{ minHeight: '11rem', maxHeight: '24rem' },
  },
  '.cm-content': { padding: '0.5rem 0', caretColor: 'var(--text)', minHeight: '10rem' },
  '.cm-gutters': {
    ...{ backgroundColor: 'var(--back)', color: 'var(--text-soft)' },
    ...{ border: 'none', borderRadius: '8px 0 0 8px' },
  },
  '.cm-placeholder': { color: 'var(--text-soft)', whiteSpace: 'pre-wrap' },
  '.cm-name': { color: 'var(--text-soft)', fontFamily: 'system-ui, sans-serif' },
  '.cm-tooltip': {
    ...{ backgroundColor: 'var(--raised)', color: 'var(--text)' },
    ...{ border: '1px solid var(--line-strong)', borderRadius: '8px', overflow: 'hidden' },
    ...{ maxWidth: 'calc(100vw - 2rem)' },
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '14em' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '0.2rem 0.6rem' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    ...{ backgroundColor: 'var(--accent)', color: 'var(--accent-text)' },
  },
  '.cm-completionMatchedText': { textDecoration: 'underline' },
  '.cm-completionDetail': { fontStyle: 'normal', opacity: '0.85' },
  '.cm-tooltip.cm-completionInfo': { padding: '0.4rem 0.6rem', maxWidth: '22rem' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--bad)' },
})
