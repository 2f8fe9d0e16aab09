// Finds JavaScript names in a script that its engine does not have; never runs it.
import { absentFromScripts } from './script-absent.ts'
import { scriptTokens } from './script-tokens.ts'
import type { ScriptToken } from './script-tokens.ts'

interface ScriptAbsence {
  readonly name: string
  readonly advice: string
  /** Index in the body of its first use. */
  readonly character: number
}

const methodMark = '.prototype.'
const names = [...absentFromScripts.keys()]
const words = new Set(names.flatMap((name) => name.split('.')))
/** Methods by their last word, which is all that a call shows. */
const methods = new Map(
  names.filter((name) => name.includes(methodMark)).map((name) => [lastPart(name), name]),
)
/** Brackets after these hold no parameters, although a block may follow. */
const heads = new Set(['if', 'while', 'for', 'switch', 'await'])
const declarers = new Set(['const', 'let', 'var', 'function', 'class', '*', 'async'])
const assignments = new Set(['=', '??=', '||=', '&&='])
const steps = new Set(['.', '?.'])

/**
 * Ignores names that the script defines or tests for (`typeof Intl`, `globalThis.Intl?.x`), and
 * whole scripts with a `with` statement. In doubt nothing is reported.
 *
 * @param body valid for the engine
 * @returns each name once, in the order of the script
 */
export function scriptAbsences(body: string): readonly ScriptAbsence[] {
  const tokens = scriptTokens(body)
  if (tokens.some(({ isWord, text }) => isWord && text === 'with')) return []
  const own = new Set<string>()
  const found = new Map<string, number>()
  const binders = bindersOf(tokens)
  let depth = 0
  for (const [i, token] of tokens.entries()) {
    depth += binders.get(i) ?? 0
    if (!token.isWord || !words.has(token.text)) continue
    const made = madeAt(tokens, i, depth > 0)
    if (made !== undefined) own.add(made)
    const name = made === undefined ? usedAt(tokens, i) : undefined
    if (name !== undefined && !found.has(name)) found.set(name, token.at)
  }
  return [...found].flatMap(([name, character]) => {
    const last = lastPart(name)
    const isMethod = methods.get(last) === name
    const isOwn = own.has(name) || (isMethod && (own.has(last) || own.has(`${methodMark}${last}`)))
    return isOwn ? [] : [{ name, advice: absentFromScripts.get(name)!, character }]
  })
}

/** @returns the name used here that the engine does not have */
function usedAt(tokens: readonly ScriptToken[], i: number): string | undefined {
  const name = nameAt(tokens, i)
  const after = tokens[i + 1]?.text ?? ''
  if (absentFromScripts.has(name)) {
    // A missing property of `globalThis` is undefined and may be read.
    const isLook = isMember(tokens, i) && !name.includes('.') && !/^[.([]$/.test(after)
    return isLook ? undefined : name
  }
  return after === '(' && isMember(tokens, i) ? methods.get(tokens[i]!.text) : undefined
}

/** @returns the name that the script defines or tests for here; for a property, its last word */
function madeAt(tokens: readonly ScriptToken[], i: number, isBound: boolean): string | undefined {
  const { text } = tokens[i]!
  const [before = '', after = ''] = [tokens[i - 1]?.text, tokens[i + 1]?.text]
  const name = nameAt(tokens, i)
  const isAssigned = assignments.has(after)
  if (tokens[startOf(tokens, i) - 1]?.text === 'typeof') return name
  if (isMember(tokens, i)) {
    if (absentFromScripts.has(name)) return isAssigned || after === '?.' ? name : undefined
    return isAssigned ? `${methodMark}${text}` : undefined
  }
  if ((before === '{' || before === ',') && after === ':') return `${methodMark}${text}`
  if (isAssigned || isBound || declarers.has(before) || after === '=>') return name
  if (before === '(' && (after === 'of' || after === 'in')) return name
  const isMethod = after === '(' && tokens[tokens[i + 1]!.partner + 1]?.text === '{'
  return isMethod ? `${methodMark}${text}` : undefined
}

/**
 * The path at a token, such as `Intl` of `globalThis.Intl`, `Array.fromAsync`, or `.toHex` after an
 * expression.
 */
function nameAt(tokens: readonly ScriptToken[], i: number): string {
  const first = startOf(tokens, i)
  if (isMember(tokens, first)) return `.${tokens[i]!.text}`
  const parts = tokens.slice(first, i + 1).flatMap(({ isWord, text }) => (isWord ? [text] : []))
  return (parts[0] === 'globalThis' ? parts.slice(1) : parts).join('.')
}

/** First token of a path such as `globalThis.Array.fromAsync`. */
function startOf(tokens: readonly ScriptToken[], i: number): number {
  let first = i
  while (first >= i - 4 && isMember(tokens, first) && tokens[first - 2]?.isWord) first -= 2
  return isMember(tokens, first) ? i : first
}

function isMember(tokens: readonly ScriptToken[], i: number): boolean {
  return steps.has(tokens[i - 1]?.text ?? '')
}

function lastPart(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1)
}

/** By token: +1 where parameters or a pattern begin, -1 where they end. */
function bindersOf(tokens: readonly ScriptToken[]): ReadonlyMap<number, number> {
  const binders = new Map<number, number>()
  for (const [i, { text, partner }] of tokens.entries()) {
    if (partner < i) continue
    const after = tokens[partner + 1]?.text ?? ''
    const isHead = heads.has(tokens[i - 1]?.text ?? '')
    const binds =
      text === '('
        ? after === '=>' || (after === '{' && !isHead)
        : (text === '{' || text === '[') && /^(?:=|of|in)$/.test(after)
    if (!binds) continue
    binders.set(i, 1)
    binders.set(partner, -1)
  }
  return binders
}
