// The body of a script step is read like a program, and nothing of it happens.
import { expect, test } from 'vitest'
import { scriptFault } from '#compiler/script-syntax.ts'

const good: readonly [title: string, body: string][] = [
  ['an assignment', 'result = candidates.map((c) => c.ip)'],
  ['sloppy code', 'with (client) { result = [ip] }'],
  [
    'a function that returns',
    'function best(c) { return c.ip }\nvar result = [best(candidates[0])]',
  ],
  ['a comment at the end', 'result = [] // none'],
  ['the word return in a text', 'result = ["return"]'],
]
for (const [title, body] of good) {
  test(`accepts ${title}`, () => expect(scriptFault(body)).toBeUndefined())
}

const bad: readonly [title: string, body: string, fault: string][] = [
  ['an open list', 'result = [', "Unexpected token '}'"],
  ['a return of the script itself', 'return [candidates[0].ip]', 'Illegal return statement'],
  ['a brace that ends the function around it', '}, function () {', "Unexpected token '}'"],
  ['a brace and a call', '})(); (function () {', "Unexpected token '}'"],
  ['an open comment', 'result = [] /*', 'Invalid or unexpected token'],
  ['a module', 'import fs from "node:fs"', 'Cannot use import statement outside a module'],
  ['parentheses without end', '('.repeat(60_000), 'it is nested too deeply'],
]
for (const [title, body, fault] of bad) {
  test(`refuses ${title}`, () => expect(scriptFault(body)).toBe(fault))
}

test('runs no part of the body', () => {
  const mark = '__scriptSyntaxRan'
  const touch = `globalThis.${mark} = true`
  for (const body of [touch, `${touch};`, `class A { static { ${touch} } }`, `[].x = (${touch})`]) {
    expect(scriptFault(body)).toBeUndefined()
  }
  for (const body of [`} ${touch}; {`, `}})(); ${touch}; (function () {{`, `return ${touch}`]) {
    expect(scriptFault(body)).toBeDefined()
  }
  expect(mark in globalThis).toBe(false)
})

test('refuses what Node knows and the engine of the scripts does not', () => {
  expect(scriptFault('using file = null')).toMatch(/line 1, column \d+/)
})
